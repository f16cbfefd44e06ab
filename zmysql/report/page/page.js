// Draws each chart from the JSON beside it. Nothing is loaded, and Vega's expressions are interpreted, never compiled, so
// that the page's policy can forbid both.
"use strict";
(() => {
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    ast: true,
    defaultStyle: false,
    tooltip: { theme: "custom", disableDefaultStyle: true },
  };
  const draw = async (place) => {
    const source = document.getElementById(`data-${place.dataset.chart}`);
    const inner = place.appendChild(document.createElement("div"));
    inner.setAttribute("aria-hidden", "true");
    await vegaEmbed(inner, JSON.parse(source.textContent), options);
  };
  Promise.all(Array.from(document.querySelectorAll("[data-chart]"), draw)).then(
    () => { document.documentElement.dataset.drawn = "all"; },
    (error) => { console.error(`a chart couldn't be drawn: ${error}`); },
  );
})();
