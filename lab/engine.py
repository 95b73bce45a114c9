# Copyright (c) 2026 Modelshelf contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's engine: vLLM for CPUs as a wheel folder and as a ready environment, and small models made with it.

Everything here runs in a container of the host image, since the wheels are for that Python.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.hosts import podman
from lab.image import CA_BUNDLE, IMAGE
from lab.machine import pip_options
from lab.run import locked, say
from lab.settings import CACHE, HOST_PYTHON, HOST_SUITE, VLLM_VERSION, Lab, fingerprint

WHEELS = "/opt/lab/wheels"
ENGINE = "/opt/lab/engine"
HERE = Path(__file__).resolve().parent
BUILD = HERE / "build_wheels.py"
MODELS = HERE / "make_models.py"
# Where torch's CPU build is found by a machine whose own pip configuration does not offer it.
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


def engine(lab: Lab, environment: Path) -> dict[Path, str]:
    """Folder on this machine -> its place in the hosts, for the wheel folder and the environment made from it."""
    key = fingerprint(BUILD, VLLM_VERSION, HOST_SUITE)
    top = CACHE / "engine" / f"vllm-{VLLM_VERSION}-{key}"
    wheels, venv = top / "wheels", top / "engine"
    with locked(CACHE / "engine.lock"):
        if not (top / "wheels.complete").exists():
            say(f"      collecting the wheels of vLLM {VLLM_VERSION} (CPU) in {wheels}")
            shutil.rmtree(top, ignore_errors=True)
            wheels.mkdir(parents=True)
            _collect(lab, environment, wheels)
            (top / "wheels.complete").touch()
        if not (top / "engine.complete").exists():
            say(f"      installing them into {venv}")
            shutil.rmtree(venv, ignore_errors=True)
            venv.mkdir()
            install = (
                f"{HOST_PYTHON} -m venv {ENGINE} && {ENGINE}/bin/pip install --quiet --disable-pip-version-check "
                f"--no-index --find-links {WHEELS} vllm=={VLLM_VERSION}+cpu"
            )
            binds = [f"--volume={wheels}:{WHEELS}:ro", f"--volume={venv}:{ENGINE}"]
            _in_container(lab, "engine-install", binds, ["sh", "-c", install])
            (top / "engine.complete").touch()
    return {wheels: WHEELS, venv: ENGINE}


def models(lab: Lab, binds: dict[Path, str]) -> Path:
    """The folder of small models in real Hugging Face format, made with the engine when missing or changed."""
    venv = next(source for source, place in binds.items() if place == ENGINE)
    built = CACHE / "models" / f"built-{fingerprint(MODELS, str(venv))}"
    with locked(CACHE / "models.lock"):
        if not (built / "complete").exists():
            say(f"      making small models in {built}")
            shutil.rmtree(built, ignore_errors=True)
            built.mkdir(parents=True)
            volumes = [
                f"--volume={venv}:{ENGINE}:ro",
                f"--volume={built}:/models",
                f"--volume={MODELS}:/make_models.py:ro",
            ]
            _in_container(lab, "models", volumes, [f"{ENGINE}/bin/python", "/make_models.py", "/models"])
            (built / "complete").touch()
        for folder in sorted(path for path in built.iterdir() if path.is_dir()):
            link = CACHE / "models" / folder.name
            if not link.is_symlink() or link.readlink() != folder:
                link.unlink(missing_ok=True)
                link.symlink_to(folder)
    return CACHE / "models"


def _collect(lab: Lab, environment: Path, wheels: Path) -> None:
    """Downloads every wheel that vLLM needs, with the machine's own pip configuration carried into the container."""
    # Indexes on this machine's disk link to files beside them: only folders of wheels are carried in.
    options = {
        name: [value for value in values if not value.startswith("file:")]
        for name, values in pip_options(environment).items()
    }
    folders = [path for path in options.get("find-links", []) if Path(path).is_dir()]
    binds = [f"--volume={wheels}:{WHEELS}", f"--volume={CA_BUNDLE}:/ca.crt:ro", f"--volume={BUILD}:/build_wheels.py:ro"]
    binds += [f"--volume={path}:{path}:ro" for path in folders]
    env = {name: " ".join(values) for name, values in {**options, "cert": ["/ca.crt"]}.items() if values}
    flags = [f"--env=PIP_{name.upper().replace('-', '_')}={value}" for name, value in env.items()]
    script = [HOST_PYTHON, "/build_wheels.py", VLLM_VERSION, WHEELS, TORCH_INDEX]
    _in_container(lab, "engine-wheels", [*binds, *flags], script)


def _in_container(lab: Lab, title: str, options: list[str], argv: list[str]) -> None:
    log = CACHE / "logs" / f"{title}.log"
    podman(lab, "run", "--rm", "--network=host", "--entrypoint=", *options, IMAGE, *argv, log=log)
