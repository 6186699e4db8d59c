"""The site that `make docs` builds: strict, whole, and with nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.docs.pages import DOCS, FENCE, LinkedPage
from tests.programs import run_program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LOADED = {"script": "src", "link": "href", "img": "src", "source": "srcset", "iframe": "src"}
"""What a browser fetches by itself, and the attribute that says from where."""

PAGES = sorted(DOCS.rglob("*.md"))
OF_THE_THEME = {"aria-dialog-name", "landmark-unique"}
"""Its search has no name, and its buttons beside code have one that comes again."""

each_page = pytest.mark.parametrize(
    "page", [pytest.param(one, id=str(one.relative_to(DOCS))) for one in PAGES]
)
FEATURES = ("li", "tr", "pre", "h1", "h2", "h3")


class Parts(HTMLParser):
    """What is in the article of a page, the anchors of its headings, and what the page fetches."""

    def __init__(self, text):
        super().__init__()
        self.counts = dict.fromkeys(FEATURES, 0)
        self.fetched = []
        self.anchors = []
        self._is_article = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") not in {"prev", "next"}:
            self.fetched.append(found[LOADED[tag]])
        self._is_article = self._is_article or tag == "article"
        if self._is_article and tag in self.counts:
            self.counts[tag] += 1
        if self._is_article and re.fullmatch("h[1-6]", tag):
            self.anchors.append(found.get("id"))

    def handle_endtag(self, tag):
        self._is_article = self._is_article and tag != "article"


@pytest.fixture(scope="session")
def site(repository, program_of, shared_folder):
    """The folder that `make docs` would make, once for all workers."""
    mkdocs = program_of(".venv-docs", "mkdocs")

    def build(folder):
        done = run_program(
            [mkdocs, "build", "--strict", "--site-dir", folder],
            cwd=repository,
            env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
        )
        assert 0 == done.returncode, done.stderr

    return shared_folder("site", build)


def html_of(site, page):
    """The page of the site that *page* became."""
    return (site / page.relative_to(DOCS)).with_suffix(".html").read_text(encoding="utf-8")


def test_nothing_is_fetched_from_elsewhere(site):
    """Neither by a page nor by a stylesheet: no fonts, no scripts, no counters of readers."""
    for page in site.rglob("*.html"):
        fetched = Parts(page.read_text(encoding="utf-8")).fetched
        assert fetched or page.name == "404.html"
        assert [] == [one for one in fetched if re.match(r"(https?:)?//", one)], page
    for sheet in site.rglob("*.css"):
        found = re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')]+)", sheet.read_text())
        assert [] == found, sheet


@each_page
def test_a_page_says_there_what_it_says_here(site, page):
    """
    Each row, item, block and heading: what one reader of Markdown takes for a list, the other does.
    """
    text = page.read_text(encoding="utf-8")
    prose = LinkedPage.of(page, text).text
    rows = [line for line in prose.splitlines() if re.match(r" *\|", line)]
    counts = Parts(html_of(site, page)).counts
    expected = {
        "li": len(re.findall(r"^ *(?:[*-]|\d+\.) |^\[\^\w+\]: ", prose, re.MULTILINE)),
        "tr": len([one for one in rows if not re.fullmatch(r" *\|[-:| ]+\|", one)]),
        "pre": len(FENCE.findall(re.sub(r"(?m)^<!--.*-->$", "", text))),
    }
    for level in (1, 2, 3):
        expected[f"h{level}"] = len(re.findall(rf"^{'#' * level} ", prose, re.MULTILINE))
    assert expected == counts


@each_page
def test_an_anchor_there_is_the_one_here(site, page):
    """
    A link to a heading holds in both places; of a heading that comes twice only the first does.
    """
    expected = LinkedPage.read(page).anchors
    found = Parts(html_of(site, page)).anchors
    assert len(expected) == len(found)
    once = [one for one in expected if expected.count(one) == 1]
    assert [] == [one for one in once if one not in found]


@pytest.fixture
def reader(chromium, site):
    """Open a page of the site from the disk; what it fetches or complains of is kept."""
    opened = chromium.new_page(viewport={"width": 1200, "height": 900}, color_scheme="dark")
    opened.asked, opened.said = [], []
    opened.on("request", lambda request: opened.asked.append(request.url))
    opened.on("console", lambda message: opened.said.append(message.text))
    opened.on("pageerror", lambda error: opened.said.append(str(error)))
    opened.goto((site / "index.html").as_uri())
    yield opened
    opened.close()


def test_it_is_read_from_the_disk_without_a_network(reader, site):
    """Every request is for a file of the site, and nothing is missing."""
    reader.goto((site / "architecture.html").as_uri())
    reader.wait_for_load_state("networkidle")
    inside = (site.as_uri(), "data:", "blob:")
    assert [] == [one for one in reader.asked if not one.startswith(inside)]
    assert [] == reader.said


def test_its_search_finds_a_setting(reader):
    """Also from the disk, where a page may not fetch an index."""
    reader.keyboard.press("/")
    reader.keyboard.type("spread-seconds")
    found = reader.locator(".md-search-result__link[href$='#spread-seconds']").first
    found.wait_for(state="attached")
    assert "/reference/settings.html" in found.get_attribute("href")


@pytest.mark.parametrize(
    ("page", "scheme"),
    [
        ("index", "dark"),
        ("architecture", "light"),
        ("reference/alarms", "dark"),
        ("reference/settings", "light"),
    ],
)
def test_nobody_is_kept_out(chromium, site, page, scheme):
    """axe-core finds nothing but what the theme does everywhere, contrasts included."""
    opened = chromium.new_page(viewport={"width": 1280, "height": 1000}, color_scheme=scheme)
    opened.goto((site / f"{page}.html").as_uri())
    found = Axe().run(opened).response["violations"]
    opened.close()
    assert [] == [
        (one["id"], one["nodes"][0]["html"]) for one in found if one["id"] not in OF_THE_THEME
    ]


def test_it_is_dark_where_the_reader_is(reader):
    """Until the reader says otherwise."""
    assert "slate" == reader.locator("body").get_attribute("data-md-color-scheme")
