# SPDX-License-Identifier: Apache-2.0
"""scripts/long_description.py: the README as a page that is not beside the repository's files."""

import importlib.util
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("long_description", ROOT / "scripts" / "long_description.py")
page = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(page)


def test_links_of_the_readme_lead_to_files_of_the_tag():
    made = page.dynamic_metadata("readme", {})
    assert made["content-type"] == "text/markdown"
    source = re.search(r'^Source = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    version = (ROOT / "CMakeLists.txt").read_text().split("project(raydex VERSION ")[1].split()[0]
    links = re.findall(r"\]\(([^)]*)\)", made["text"])
    assert len(links) > 10 and all(re.match("https?://", link) for link in links)
    files = [re.fullmatch(rf"{re.escape(source)}/(blob|raw)/v{re.escape(version)}/(.*)", link) for link in links]
    files = [found for found in files if found]
    assert all((ROOT / found[2]).exists() for found in files)
    assert {found[2] for found in files if found[1] == "raw"} == {"docs/results/peers.svg"}
    plain = re.sub(rf"{re.escape(source)}/(blob|raw)/v{re.escape(version)}/", "", made["text"])
    assert plain == (ROOT / "README.md").read_text()


def test_what_is_no_link_to_a_file_stays():
    text = "[a](x.md) [b](#part) [c](https://e.org/x) [d](mailto:a@b.c) ![e](y.svg)\n```cpp\n[](int i) {}\n```\n[f](z/#g)\n"
    assert page.absolute(text, "https://h", "v1") == (
        "[a](https://h/blob/v1/x.md) [b](#part) [c](https://e.org/x) [d](mailto:a@b.c) ![e](https://h/raw/v1/y.svg)\n"
        "```cpp\n[](int i) {}\n```\n[f](https://h/blob/v1/z/#g)\n"
    )
