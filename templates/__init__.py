"""The pool layouts, one TOML each, packaged so that importlib.resources finds them."""
