"""The report as a web site: its document, and the page in a real browser."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from indexproof import parse_map, simplify
from indexproof.cli import app
from indexproof.core.op import DIRECTIONS
from indexproof.reports.example import FILES
from indexproof.reports.hlo_files import module_of
from indexproof.reports.website import compared, module_section, page_of, published_maps, report_document, verdicts_in
from indexproof.verify.analysed import module_maps
from indexproof.verify.verdict import Status
from json_forms import FORMS

HOSTILE = "</script><img src=x onerror=alert(1)>"
RULES = f"""int x, y, c
"good": (x * c + y) / c -> x + y / c if c >= 1
"bad": (x + y) / c -> x / c + y / c
"{HOSTILE}": x - y -> y - x
"""
CLAIMS = """claim same
  (d0) -> (d0 + 0), domain: d0 in [0, 9] == (d0) -> (d0), domain: d0 in [0, 9]
"""
HLO = """HloModule demo

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

fused {
  q0 = f32[8,12] parameter(0)
  q1 = f32[12,8] parameter(1)
  t = f32[8,12] transpose(q1), dimensions={1,0}
  ROOT m = f32[8,12] multiply(q0, t)
}

ENTRY main {
  p0 = f32[8,12] parameter(0)
  p1 = f32[12,8] parameter(1)
  f = f32[8,12] fusion(p0, p1), kind=kLoop, calls=fused
  r = f32[4,2,12] reshape(f)
  z = f32[] constant(0)
  red = f32[4,12] reduce(r, z), dimensions={1}, to_apply=sum
  v = f32[4,12] reverse(red), dimensions={1}
  e = f32[7,26] pad(v, z), padding=1_2x-1_4_1
  sl = f32[7,9] slice(e), slice={[0:7],[0:26:3]}
  ROOT out = (f32[7,9], f32[4,12]) tuple(sl, red)
}
"""


def run(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    found = CliRunner().invoke(app, ["report", str(folder), *arguments, "--no-cache", "--jobs", "1"])
    return found.exit_code, json.loads((folder / "report.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report about a rule file, a claims file and a module."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in (("my.rules", RULES), ("my.claims", CLAIMS), ("m.hlo", HLO)):
        (folder / name).write_text(text, "utf-8")
    code, _ = run(folder, *(str(folder / n) for n in ("my.rules", "my.claims", "m.hlo")))
    assert code == 1
    return folder


@pytest.fixture(scope="module")
def data(made: Path) -> dict[str, Any]:
    return json.loads((made / "report.json").read_text("utf-8"))


# --------------------------------------------------------------------------------------------------- the document
def test_the_document_says_what_was_proved(data: dict[str, Any]) -> None:
    assert data.keys() == FORMS["report"]
    assert (data["verdict"], data["exit_status"]) == ("REFUTED", 1)
    (proved,) = data["proved"]
    assert proved["counts"]["PROVED"] == 1
    assert proved["counts"]["REFUTED"] == 2
    pages = {p["name"]: p for p in proved["pages"]}
    assert pages["good"]["redundant"] == ["c >= 1"]
    (failed,) = pages["bad"]["failed"]
    point = pages["bad"]["stated"]["counterexample"]
    for drawn in failed["picture"]:
        left, right, place = next(p[1:] for p in drawn["points"] if p[0] == point[drawn["variable"]])
        assert left != right
        assert place == "counterexample"
    assert [c["verdict"] for f in data["checked"] for c in f["files"][0]["claims"]] == ["PROVED"]
    assert [m["verdict"] for m in data["modules"]] == ["PROVED"]


def test_what_is_expected_to_be_false_is_told_as_expected(page: Any, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/half.rules").write_text("int x\nhalf: x / 2 * 2 -> x\nexpect REFUTED\n", "utf-8")
    claim = "claim no\n  (d0) -> (d0 mod 3), domain: d0 in [0, 3] == (d0) -> (d0 mod 2)\nexpect REFUTED\n"
    (tmp_path / "own/no.claims").write_text(claim, "utf-8")
    code, data = run(tmp_path, str(tmp_path / "own") + "/")  # naming a folder means all files in it
    assert (code, data["verdict"]) == (0, "PROVED")
    assert [(p["verdict"], p["passes"]) for p in data["proved"][0]["pages"]] == [("REFUTED", True)]
    text = opened(page, tmp_path).inner_text("main")
    assert "Not proved" not in text
    assert data["proved"][0]["counts"]["REFUTED"] == 1  # the counts are those of `prove`
    assert "2\nas expected" in text
    assert "refuted\n" not in text
    for place in ("#/claims", "#/claim/stated%20rule/half", "#/file/0"):
        assert "REFUTED as expected" in opened(page, tmp_path, place).inner_text("main")
    (tmp_path / "own/half.rules").write_text("int x\nhalf: x + 0 -> x\nexpect REFUTED\n", "utf-8")
    assert run(tmp_path, str(tmp_path / "own") + "/")[0] == 1
    page.goto("about:blank")  # the browser does not load the same address twice
    assert "PROVED not expected" in opened(page, tmp_path).inner_text("main")


def test_a_wrong_map_of_an_op_is_explained_once(page: Any, tmp_path: Path) -> None:
    op = FILES["indexing/ops.py"].replace("- self.shift) % x", "+ self.shift) % x")
    (tmp_path / "ops.py").write_text(op, "utf-8")
    code, data = run(tmp_path, str(tmp_path / "ops.py"), "--max-rank", "2")
    assert code == 1
    (shown,) = data["proved"][0]["pages"]
    (failed,) = shown["failed"]
    assert failed["also"] == "2 of 3 instances (rank 1: 1 of 1, rank 2: 1 of 1)"
    text = opened(page, tmp_path, "#/claim/op/roll").inner_text("main")
    assert text.count("Counterexample") == 1
    assert f"Fails in {failed['also']}." in text


def test_an_op_is_shown_on_a_small_instance(tmp_path: Path) -> None:
    code, data = run(tmp_path, "transpose", "quotient_of_quotient", "--max-rank", "2", "--certificates")
    assert code == 0
    pages = {p["name"]: p for p in data["proved"][0]["pages"]}
    op = pages["transpose"]["op"]
    assert op["text"] == "transpose(permutation=(1, 0))"
    assert op["operands"] == [op["output"][::-1]]
    assert op["maps"][0][0]["text"].startswith("(d0, d1) -> (d1, d0)")
    sound = next(row for row in pages["quotient_of_quotient"]["owed"]["quotient_of_quotient"] if row[0] == "sound")
    assert (tmp_path / "certificates" / sound[6]).is_file()


def test_a_rule_is_shown_at_work(page: Any, tmp_path: Path) -> None:
    (tmp_path / "m.hlo").write_text(HLO, "utf-8")
    _, data = run(tmp_path, "quotient_certified", "minimum_of_congruent_leaves_remainder", str(tmp_path / "m.hlo"))
    pages = {p["name"]: p for p in data["proved"][0]["pages"]}
    fired = pages["quotient_certified"]["fired"]
    assert 0 < fired["maps"] < fired["of"]
    example = fired["example"]
    before, after = parse_map(example["before"]), parse_map(example["after"])
    steps = simplify(before, explain=True)
    assert steps.after == after
    assert "quotient_certified" in steps.rules()
    assert pages["minimum_of_congruent_leaves_remainder"]["fired"] == {"maps": 0, "of": fired["of"], "example": None}
    assert fired["of"] > len(published_maps()), "the maps of the module are looked at, too"
    opened(page, tmp_path, "#/claim/rule/quotient_certified")
    assert page.inner_text(".fired").startswith(f"Fires on {fired['maps']} of {fired['of']} maps of published")
    assert example["before"] in page.inner_text("main")


JUNIT = """<testsuites><testsuite>
<testcase classname="tests.oracle.test_ops_jax" name="test_reads_is_what_jax_computes[reverse-0]"/>
<testcase classname="tests.oracle.test_ops_jax" name="test_reads_is_what_jax_computes[reverse-1]"><failure/></testcase>
<testcase classname="tests.oracle.test_ops_jax" name="test_reads_is_what_jax_computes[reverse-2]"><skipped/></testcase>
<testcase classname="tests.other" name="test_reads_is_what_jax_computes[reverse-3]"/>
</testsuite></testsuites>"""


def test_ops_tell_how_they_compared_with_jax(page: Any, tmp_path: Path) -> None:
    (tmp_path / "jax.xml").write_text(JUNIT, "utf-8")
    given = ["--max-rank", "1", "--jax", str(tmp_path / "jax.xml")]
    _, data = run(tmp_path, "reverse", "broadcast", *given)
    pages = {p["name"]: p for p in data["proved"][0]["pages"]}
    assert pages["reverse"]["jax"] == {"agree": 1, "differ": 1, "skipped": 1}
    assert pages["broadcast"]["jax"] is None
    opened(page, tmp_path, "#/claim/op/reverse")
    said = "Compared with jax on random instances: agree in 1 test, differ in 1, 1 left out."
    assert page.inner_text(".jax") == said
    for text in ("<testsuite>", "<testsuite/>"):
        (tmp_path / "jax.xml").write_text(text, "utf-8")
        found = CliRunner().invoke(app, ["report", str(tmp_path), "reverse", "--no-cache", "--jobs", "1", *given])
        assert found.exit_code == 3, found.output


def test_two_runs_are_compared(made: Path, data: dict[str, Any], tmp_path: Path) -> None:
    old = json.loads(json.dumps(data))
    rows = {p["name"]: p["owed"] for p in old["proved"][0]["pages"]}
    rows["bad"]["bad"][0][1] = "PROVED"
    rows["good"]["good"][0][1] = "UNDECIDED"
    rows["gone"] = old["proved"][0]["pages"][0]["owed"]["gone"] = [["sound", "PROVED", "", 0, True, "", ""]]
    found = compared(old, data)
    assert (found["lost"], found["gained"]) == (2, 1)
    assert found["changes"] == [
        ["gone: sound", "PROVED", None],
        ["bad: sound", "PROVED", "REFUTED"],
        ["good: sound", "UNDECIDED", "PROVED"],
    ]
    (tmp_path / "old.json").write_text(json.dumps(old), "utf-8")
    _, again = run(tmp_path / "new", str(made / "my.rules"), "--compare", str(tmp_path / "old.json"))
    assert again["compared"]["lost"] == 6  # the claims file and the three computations are missing now
    assert verdicts_in(again)["good: sound"] == "PROVED"


def test_bad_input_is_an_error_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]", "utf-8")
    (tmp_path / "y.json").write_text('{"format": "indexproof report 1", "proved": 3}', "utf-8")
    (tmp_path / "z.json").write_text('{"format": "indexproof prove 1", "results": [{"claim": "a"}]}', "utf-8")
    compared = (["small_remainder_vanishes", "--compare", str(tmp_path / f"{name}.json")] for name in "xyz")
    for arguments in (*compared, ["no_such_rule"], [str(tmp_path / "none.hlo")]):
        found = CliRunner().invoke(app, ["report", str(tmp_path / "site"), *arguments, "--no-cache"])
        assert found.exit_code == 3, arguments
        assert not (tmp_path / "site" / "index.html").exists()


def test_the_page_holds_its_document_and_asks_for_nothing(made: Path, data: dict[str, Any]) -> None:
    page = (made / "index.html").read_text("utf-8")
    (held,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert json.loads(held) == data
    assert HOSTILE not in page
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1998/Math/MathML",
    }
    assert "innerHTML" not in page


# ------------------------------------------------------------------------------------------------------- the page
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium is installed: the page is not looked at (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A browser tab that fails the test on every error, dialog and network request."""
    context = browser.new_context(offline=True, color_scheme="light")
    tab = context.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    tab.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    tab.on("request", lambda r: None if r.url.startswith("file:") else wrong.append(r.url))
    yield tab
    context.close()
    assert wrong == []


def opened(page: Any, folder: Path, place: str = "#/") -> Any:
    page.goto(f"file://{folder}/index.html{place}")
    page.wait_for_selector("main h1, main section")
    return page


def test_every_page_opens(page: Any, made: Path, data: dict[str, Any]) -> None:
    opened(page, made)
    assert "REFUTED" in page.inner_text("h1")
    assert "Every obligation has an answer" in page.inner_text("main")
    names = page.evaluate("PAGES.map((p) => [placeOf(p), p.name])")
    for place, name in names:
        opened(page, made, place)
        assert name in page.inner_text("h1")  # hostile names are shown as text, too
    opened(page, made, "#/claim/stated%20rule/good")
    assert page.inner_text(".needless") == "not needed for truth"
    opened(page, made, "#/claim/stated%20rule/bad")
    assert page.locator("math").count() > 5
    assert page.locator("svg[role=img]").count() == 3
    assert page.locator("text=There is no such page").count() == 0
    for place in ("#/file/0", "#/module/0", "#/claims"):
        opened(page, made, place)
        assert page.locator("text=There is no such page").count() == 0


def test_formulas_are_mathematics(page: Any, made: Path) -> None:
    opened(page, made)
    trees = {
        "x // (a·b) + 2": ["+", ["//", "x", ["()", ["·", "a", "b"]]], "2"],
        "-x mod d ≤ 3 and not (a = b)": ["and", ["≤", ["mod", ["neg", "x"], "d"], "3"], ["not", ["()", ["=", "a",
            "b"]]]],
        "min(x, 3) ∈ [0, g - 1]": ["∈", ["call", "min", "x", "3"], ["[]", "0", ["-", "g", "1"]]],
        "a // 2 | a in [0, 3] → 0": ["→", ["|", ["//", "a", "2"], ["in", "a", ["[]", "0", "3"]]], "0"],
        "|x - y| < 3": ["<", "|x - y|", "3"],
        "x - y - z": ["-", ["-", "x", "y"], "z"],
    }  # fmt: skip
    for text, tree in trees.items():
        assert page.evaluate("parsed", text) == tree
    for text in ("a +", "(a", "<b>", "a ? b"):
        assert page.evaluate("(text) => math(text, false).className ?? ''", text) == "code"


def test_what_elements_read_is_what_the_maps_say(page: Any, made: Path) -> None:
    """Reads that the page follows through each instruction agree with the composed maps of the analysis."""
    opened(page, made)
    module = module_of(str(made / "m.hlo"))
    maps = module_maps(module).computation(module.entry, DIRECTIONS[0])
    pairs = {m: m.relation() for of in maps.values() for m in of}
    assert sum(map(len, pairs.values())) > 200
    script = """([at, array, index]) => {
      const c = DATA.modules[0].computations.find((x) => x.name === "main");
      const reached = followed(DATA.modules[0], c, at, array, pointSet([index]));
      const of = (name) => reached.get(c.instructions.findIndex((i) => i.name === name));
      return ["p0", "p1"].map((name) => [...((of(name) || new Map()).get(0) || pointSet([])).points.values()]);
    }"""
    for root, dims in enumerate(((7, 9), (4, 12))):
        for index in ((i, j) for i in range(dims[0]) for j in range(dims[1])):
            expected = [
                {target for m in maps.get((root, k), ()) for at, target in pairs[m] if at == index} for k in range(2)
            ]
            found = page.evaluate(script, [len(module.entry.instructions) - 1, root, list(index)])
            assert [{tuple(t) for t in of} for of in found] == expected, (root, index)


def test_large_sets_become_boxes_that_hold_them(page: Any, made: Path) -> None:
    opened(page, made)
    script = """() => {
      const form = {map: {dims: [["d0", 0, 99999]], ranges: [["s0", 0, 9]], rts: [],
        results: [["add", ["mul", "d0", 3], "s0"], ["mod", "d0", 7], ["fdiv", ["mul", "d0", -1], 4]], constraints: []}};
      const large = readThrough(form, {box: [[10, 50000]], loose: false}, {left: 1e6});
      return [large, hull(readThrough(form, pointSet([[10]]), {left: 1e6}))];
    }"""
    large, small = page.evaluate(script)
    assert large == {"box": [[30, 150009], [0, 6], [-12500, -3]], "loose": True}
    assert small == [[30, 39], [3, 3], [-3, -3]]


def test_integers_are_exact(page: Any, made: Path, tmp_path: Path) -> None:
    n = 2**70 + 1
    data = report_document([], [], [], Status.PROVED, 0)
    (tmp_path / "index.html").write_text(page_of({**data, "large": [n, ["mod", "d0", -n]]}), "utf-8")
    opened(page, tmp_path)
    assert page.evaluate("String(evaluator(DATA.large[1])({ d0: 7n }))") == str(7 - n)
    assert page.evaluate("String(evaluator(DATA.large[0])({}))") == str(n)


def test_the_explorer_is_used_by_pointer_and_keyboard(page: Any, made: Path) -> None:
    opened(page, made, "#/module/0/main/red")
    assert page.input_value("main input[size]") == "2, 6"
    page.locator(".picture svg").first.locator("rect").nth(0).click()
    assert page.input_value("main input[size]") == "0, 0"
    page.locator(".picture svg").first.locator("rect").nth(13).click(modifiers=["Shift"])
    assert page.input_value("main input[size]") == "0:2, 0:2"
    assert "p0 f32[8,12]: 8 of 96 elements" in page.inner_text("main")
    page.locator(".picture [tabindex]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.input_value("main input[size]") == "2, 1"
    assert "2 parameters" in page.text_content("#status")
    page.click("aside >> text=out")
    page.select_option("main select[aria-label=Array]", "1")
    assert page.input_value("main input[size]") == "2, 6"
    assert page.locator(".chip", has_text="✓ sound").count() > 1
    page.locator(".edge a", has_text=re.compile("^proof$")).first.click()
    page.locator(".edge a", has_text="composed inside fused").first.click()
    page.wait_for_function("location.hash.includes('fused')")
    page.wait_for_function("document.querySelector('h1').innerText.startsWith('m')")  # the page follows the address


def test_search_filter_keys_and_colours(page: Any, made: Path) -> None:
    opened(page, made)
    page.keyboard.press("/")
    page.keyboard.type("transpose")
    assert page.locator("main a", has_text=re.compile("^t$")).count() == 1
    page.keyboard.press("Escape")
    opened(page, made, "#/claims")
    page.select_option("select[aria-label='every verdict']", "REFUTED")
    assert page.locator("tbody tr").count() == 2
    page.fill("input[placeholder=Filter]", "bad")
    assert page.locator("tbody tr").count() == 1
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash.endsWith('bad')")
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.keyboard.press("t")
    assert page.evaluate(paper) != light


PLACES = ("#/", "#/claims", "#/claim/stated%20rule/bad", "#/module/0/main/red")


def test_everything_that_is_used_has_a_name(page: Any, made: Path) -> None:
    for place in PLACES:
        opened(page, made, place)
        unnamed = page.evaluate(
            """[...document.querySelectorAll("a, button, input, select, svg, [tabindex='0']")].filter(
            (e) => !(e.getAttribute("aria-label") || e.textContent.trim())).map((e) => e.outerHTML)"""
        )
        assert unnamed == []


@pytest.mark.parametrize("width", [400, 1280])
def test_no_page_is_wider_than_its_window(page: Any, made: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for place in PLACES:
        opened(page, made, place)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_long_formulas_and_names_are_written_as_a_person_would(page: Any, tmp_path: Path) -> None:
    file = tmp_path / ("long" * 20) / "m.hlo"
    file.parent.mkdir()
    file.write_text(HLO, "utf-8")
    run(tmp_path, "pad", "digits_recombine", str(file), "--max-rank", "1")
    page.set_viewport_size({"width": 400, "height": 800})
    for place in ("#/claim/op/pad", "#/claim/rule/digits_recombine", "#/module/0"):
        opened(page, tmp_path, place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, place
        hidden = "[...document.querySelectorAll('dd, p')].filter((e) => e.scrollHeight > e.clientHeight + 1).length"
        assert page.evaluate(hidden) == 0, place
        text = page.inner_text("main")
        assert "where(" not in text
        assert "`" not in text.replace("strategy `next_digit`", "")
        assert '{"' not in text


def test_statements_are_readable_in_a_narrow_window(page: Any, made: Path) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    opened(page, made, "#/claims")
    heights = page.evaluate("[...document.querySelectorAll('tbody tr')].map((r) => r.offsetHeight)")
    assert max(heights) < 100


@pytest.fixture(scope="module")
def large(data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report on 2,000 rules and a module whose 5,000 instructions all lie between output and parameters."""
    folder = tmp_path_factory.mktemp("large")
    lines = ["HloModule big", "ENTRY main {", "  p0 = f32[8,12] parameter(0)", "  x0 = f32[8,12] add(p0, p0)"]
    for n in range(1250):
        lines.append(f"  t{n} = f32[12,8] transpose(x{n}), dimensions={{1,0}}")
        lines.append(f"  r{n} = f32[12,8] reverse(t{n}), dimensions={{0}}")
        lines.append(f"  u{n} = f32[8,12] transpose(r{n}), dimensions={{1,0}}")
        lines.append(f"  {'ROOT ' * (n == 1249)}x{n + 1} = f32[8,12] multiply(u{n}, p0)")
    (folder / "big.hlo").write_text("\n".join([*lines, "}"]) + "\n", "utf-8")
    module = module_section("big.hlo", module_of(str(folder / "big.hlo")))
    (section,) = data["proved"]
    pages = [
        {**p, "name": f"{p['name']} {n}", "owed": {f"{p['name']} {n}": rows for rows in p["owed"].values()}}
        for n in range(667)
        for p in section["pages"]
    ]
    document = report_document([{**section, "pages": pages}], [], [module], Status.REFUTED, 1)
    (folder / "index.html").write_text(page_of(document), "utf-8")
    return folder


@pytest.mark.parametrize("place", ["#/", "#/claims", "#/module/0"])
def test_a_large_report_is_painted_within_a_second(page: Any, large: Path, place: str) -> None:
    """A large report is painted within a second; one run of three is enough because the machine may be busy."""
    times = [math.inf]
    while min(times) >= 1000 and len(times) <= 3:
        page.goto("about:blank")
        page.goto(f"file://{large}/index.html{place}", wait_until="commit")
        page.wait_for_selector("main h1")
        page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        times.append(max(painted, page.evaluate("performance.getEntriesByName('shown')[0].startTime")))
    print(place, times)
    assert min(times) < 1000
    if place == "#/module/0":
        assert "5,002 instructions, 1 parameter read" in page.inner_text("main")
        assert page.evaluate("PAGES.length") == 2001
