"""`zmysql testbed`: build the guest's image, start it, run commands in it, end it."""

from __future__ import annotations

import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from zmysql.report.output import output_version
from zmysql.testbed import image as images
from zmysql.testbed.devices import DEFAULT_DISKS, MODELS
from zmysql.testbed.recipe import DEBIAN_13
from zmysql.testbed.vm import DEFAULT_MEMORY_BYTES, Testbed, names
from zmysql.units import format_size, parse_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

name_option = click.option("--name", default="default", show_default=True, help="Which testbed.")


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Show the current step with the seconds it takes; without a terminal, a line a step."""
    console = Console(stderr=True)
    begun = time.monotonic()
    if not console.is_terminal:
        yield lambda step: console.print(f"[{time.monotonic() - begun:4.0f} s] {step}", markup=False, highlight=False)
        return
    with console.status("") as status:
        told: list[tuple[str, float]] = []

        def say(step: str) -> None:
            now = time.monotonic()
            if told:
                console.print(f"  {told[-1][0]} [dim]({now - told[-1][1]:.0f} s)[/dim]", highlight=False)
            told.append((step, now))
            status.update(step)

        yield say


@click.group()
def testbed() -> None:
    """Try everything first: a virtual machine with real ZFS, MySQL, sysbench and DTrace, and disks that seek."""


@testbed.command()
def build() -> None:
    """Build the guest's image, once per recipe; minutes the first time."""
    with progress() as say:
        image = images.build(say)
    _say_image(image)


@testbed.command(context_settings={"show_default": True})
@name_option
@click.option(
    "--disk",
    "disks",
    multiple=True,
    metavar="MODEL:SIZE[*N]",
    default=DEFAULT_DISKS,
    help=f"A disk, or N alike; models: {', '.join(MODELS)}.",
)
@click.option(
    "--memory", type=parse_size, metavar="SIZE", default=format_size(DEFAULT_MEMORY_BYTES), help="The guest's memory."
)
@click.option("--cpus", type=click.IntRange(1, 64), default=1, help="The guest's CPUs.")
def up(name: str, disks: tuple[str, ...], memory: int, cpus: int) -> None:
    """Start a testbed and wait until it answers; nothing to do when it is up."""
    with progress() as say:
        started = Testbed(name).up(say, disks, memory_bytes=memory, cpus=cpus)
    _say_image(images.built())
    click.echo(f"testbed {name} is up" if started else f"testbed {name} is up already: nothing to do", err=True)


@testbed.command(context_settings={"ignore_unknown_options": True})
@name_option
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(name: str, command: tuple[str, ...]) -> None:
    """Run a command in the guest, as root, and end with its exit status."""
    sys.exit(Testbed(name).host().call(command))


@testbed.command()
@name_option
def ssh(name: str) -> None:
    """Open a shell in the guest."""
    sys.exit(Testbed(name).host().shell())


@testbed.command()
@name_option
@click.argument("wheel", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def install(name: str, wheel: Path) -> None:
    """Install a wheel of zmysql in the guest, as a user would."""
    Testbed(name).host().install(wheel)


@testbed.command()
@click.option("-j", "--json", "as_json", is_flag=True, help="Print JSON only.")
def status(*, as_json: bool) -> None:
    """Show the image and the testbeds."""
    image = images.built()
    beds = [_describe(Testbed(name)) for name in names()]
    if as_json:
        shown = {
            "output_version": output_version("testbed status"),
            "image": {"key": DEBIAN_13.key(), "built": image is not None, "path": str(images.image_path())},
            "testbeds": beds,
        }
        click.echo(json.dumps(shown, indent=2))
        return
    click.echo(f"image {DEBIAN_13.key()}: " + (str(image.path) if image else "not built: zmysql testbed build"))
    for bed in beds:
        click.echo("testbed {name}: {state}, {accelerator}, ssh port {port}, {disks}".format(**bed))


@testbed.command()
@name_option
def reset(name: str) -> None:
    """Cut a testbed's power at once, and boot it again with the same disks; what wasn't synced is lost."""
    with progress() as say:
        Testbed(name).power_cut(say)
    click.echo(f"testbed {name} is up again", err=True)


@testbed.command()
@name_option
def down(name: str) -> None:
    """End a testbed: its processes, and its folder with the disks."""
    ended = Testbed(name).down()
    click.echo(f"testbed {name} is down" if ended else f"there is no testbed {name}: nothing to do", err=True)


def _describe(bed: Testbed) -> dict[str, object]:
    state = bed.state()
    if state is None:
        return {"name": bed.name, "state": "unfinished", "accelerator": None, "port": None, "disks": None}
    alive = bed.alive()
    return {
        "name": bed.name,
        "state": ("up" if state.up else "starting") if alive else "crashed",
        "accelerator": state.accelerator,
        "port": state.port,
        "disks": " ".join(state.spec.disks),
        "memory": format_size(state.spec.memory_bytes),
    }


def _say_image(image: images.Image | None) -> None:
    for line in image.substitutions if image else ():
        click.echo(f"zmysql: the image lacks what its recipe wants; instead: {line}", err=True)
