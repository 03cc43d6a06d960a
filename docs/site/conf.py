# SPDX-License-Identifier: Apache-2.0
"""The site, as Sphinx builds it; scripts/docs calls it, and lays what is read side by side beforehand."""

import re
import sys
import typing
from pathlib import Path

import raydex.typing
import tomllib

SITE = Path(__file__).resolve().parent
ROOT = SITE.parents[1]
sys.path[:0] = [str(SITE / "extensions"), str(ROOT / "lab/scripts")]

project = "raydex"
author = "the authors of raydex"
copyright = "the authors of raydex, under the Apache License 2.0"
version = release = re.search(
    r"project\(raydex VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
).group(1)

extensions = [
    "myst_nb",
    "breathe",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "repository",
    "measured",
    "pictures",
    "references",
]
exclude_patterns = ["repository", "plots*"]

# Which page shows what of the repository; links to all else are downloads, to folders plain text.
repository_pages = {
    "README.md": "index",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "conduct",
    "RELEASING.md": "releasing",
    "SECURITY.md": "security",
    "SUPPORT.md": "support",
    "docs/architecture.md": "architecture",
    "docs/building.md": "reference/building",
    "docs/c.md": "reference/c",
    "docs/compatibility.md": "compatibility",
    "docs/command_line.md": "reference/command_line",
    "docs/decisions.md": "decisions",
    "docs/performance": "performance",
    "docs/performance/README.md": "performance",
    "docs/results": "results",
    "docs/results/README.md": "results",
    "docs/results/rt_cores.md": "results",
    "docs/structures.md": "choosing",
    "include/raydex": "reference/cpp/index",
    "python": "reference/python",
}

myst_enable_extensions = ["colon_fence", "substitution"]
myst_substitutions = {"version": version}
myst_heading_anchors = 3

# Notebooks run at each build; those that need a GPU are shown as they are.
nb_execution_mode = "force"
nb_execution_excludepatterns = ["*_gpu.md", "**/*_gpu.md"]
nb_execution_show_tb = True  # an error is a warning, too, and so fails the build
nb_execution_timeout = 300
nb_merge_streams = True

breathe_projects = {"raydex": str(ROOT / "build/docs/xml")}
breathe_default_project = "raydex"
breathe_default_members = ("members",)
breathe_show_include = False

add_module_names = False
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = ["Cost"]
# Names of types are shown, not what they stand for; but `Unpack` takes the options themselves.
autodoc_type_aliases = {
    name: f"~raydex.typing.{name}" for name in vars(raydex.typing)
    if name[0].isupper() and not hasattr(typing, name) and not name.endswith("Options")
}

# What is ours has to be found. Other libraries' references are not at hand while this is built.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(?!raydex\.(?!_|sharded\._|dask\._|typing\._)).*"),
    (r"py:class", r"raydex\.polars\.PolarsFrame"),  # a type variable
    (r"cpp:.*", r"(?!raydex::(?!core)).*"),
]

html_theme = "furo"
html_title = "raydex"
templates_path = ["templates"]
html_sidebars = {"**": [
    "sidebar/brand.html", "project.html", "sidebar/search.html", "sidebar/scroll-start.html", "sidebar/navigation.html",
    "sidebar/scroll-end.html",
]}  # fmt: skip
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
addresses = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
html_theme_options = {
    "navigation_with_keys": True,
    "footer_icons": [{"name": name, "url": url, "html": name, "class": ""} for name, url in addresses.items()],
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
