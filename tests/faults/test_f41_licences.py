"""F41: licence statements that conflict, are nested, or stand in the body only: the most restrictive reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.literature.licences import CLASSES, REDISTRIBUTABLE, classify
from tests.literature.papers_on_disk import article, read_all, write

BY = "http://creativecommons.org/licenses/by/4.0/"

STATEMENTS = {
    f"See {BY}.": "CC-BY",
    "https://creativecommons.org/licenses/by-nc/3.0": "CC-BY-NC",
    "https://creativecommons.org/licenses/by-nc-nd/4.0/deed.en": "CC-BY-NC-ND",
    "http://creativecommons.org/licenses/by-sa/2.5/": "CC-BY-SA",
    "http://creativecommons.org/licenses/by-nc-sa/4.0": "CC-BY-NC-SA",
    "http://creativecommons.org/licenses/by-nd/4.0": "CC-BY-ND",
    "http://creativecommons.org/publicdomain/zero/1.0/": "CC0",
    "Distributed under a CC BY licence": "CC-BY",
    "This is a CC-BY-NC-ND article": "CC-BY-NC-ND",
    "CC BY 4.0": "CC-BY",
    "CC0 1.0 waiver": "CC0",
    "under the terms of the Creative Commons Attribution License, which permits unrestricted use": "CC-BY",
    "under the Creative Commons Attribution Non-Commercial License": "CC-BY-NC",
    "Creative Commons Attribution-NonCommercial-NoDerivs": "CC-BY-NC-ND",
    "Creative Commons Attribution-NonCommercial-ShareAlike 3.0": "CC-BY-NC-SA",
    "The authors did this as part of a work of the United States Government": "US-GOV",
    "All content is public domain unless otherwise noted": "US-GOV",
    "NIH Public Access Author Manuscript": "AUTHOR-MANUSCRIPT",
    "verbatim copying and redistribution of this article are permitted in all media for any purpose": "PUBLISHER-OPEN",
    "This is an open access article.": "PUBLISHER-OPEN",
    "© 2020 The Publisher. All rights reserved.": "ALL-RIGHTS-RESERVED",
    "© 2011 Smith et al.": "UNKNOWN",
    "Received 3 March 2011": "UNKNOWN",
    "": "UNKNOWN",
    "The accuracy of by-pass and cc by hand": "UNKNOWN",
}


@pytest.mark.parametrize("statement", sorted(STATEMENTS))
def test_one_statement(statement):
    found = classify([statement])
    assert found.name == STATEMENTS[statement]
    assert bool(found.evidence) == (found.name != "UNKNOWN")
    assert found.evidence in " ".join(statement.split())


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ([f"CC BY {BY}", "https://creativecommons.org/licenses/by-nc/4.0/"], "CC-BY-NC"),
        (["CC BY-ND", "CC BY-NC-ND", "CC0"], "CC-BY-NC-ND"),
        (["CC BY", "nothing said here"], "CC-BY"),
        ([f"CC BY, see {BY}, but for commercial use ask: CC BY-NC"], "CC-BY-NC"),
        ([], "UNKNOWN"),
    ],
)
def test_the_most_restrictive_statement_wins(statements, expected):
    assert classify(statements).name == expected
    assert classify(statements[::-1]).name == expected


def licence(text: str, href: str = "", kind: str = "") -> str:
    link = f' xlink:href="{href}"' if href else ""
    return f'<license license-type="{kind}"{link}><license-p>{text}</license-p></license>'


def class_of(tmp_path, permissions: str, body: str = "<p>Text.</p>", back: str = "") -> tuple[str, str]:
    _, papers, reports = read_all([write(tmp_path, "a.nxml", article(body, permissions=permissions, back=back))])
    if papers.papers.is_empty():
        return "set aside", str(reports["a.nxml"]["reason"])
    row = papers.papers.row(0, named=True)
    return row["licence"], row["licence_evidence"]


def test_two_licence_elements_that_conflict(tmp_path):
    both = licence("Free for all", BY) + licence(
        "Only non-commercial", "http://creativecommons.org/licenses/by-nc/4.0/"
    )
    name, evidence = class_of(tmp_path, both)
    assert name == "CC-BY-NC"
    assert "by-nc" in evidence


def test_the_text_is_more_restrictive_than_the_link(tmp_path):
    name, _ = class_of(tmp_path, licence("Creative Commons Attribution-NonCommercial licence", BY))
    assert name == "CC-BY-NC"


def test_the_link_inside_the_text_counts(tmp_path):
    inner = '<ext-link xlink:href="http://creativecommons.org/licenses/by-nc-nd/4.0/">here</ext-link>'
    assert class_of(tmp_path, licence(f"The terms are {inner}."))[0] == "CC-BY-NC-ND"


def test_a_figure_under_another_licence_does_not_free_or_bind_the_article(tmp_path):
    figure = (
        "<fig><caption><p>Map.</p></caption><permissions>"
        + licence("Reprinted", "http://creativecommons.org/publicdomain/zero/1.0/")
        + "</permissions></fig>"
    )
    assert class_of(tmp_path, "", figure)[0] == "UNKNOWN"
    assert (
        class_of(tmp_path, licence("x", BY), figure.replace("publicdomain/zero/1.0", "licenses/by-nc-nd/4.0"))[0]
        == "CC-BY"
    )


def test_a_statement_in_the_back_matter_only(tmp_path):
    notes = (
        "<notes><p>Open Access: this article is distributed under the terms of the Creative Commons Attribution "
        "Noncommercial License which permits any noncommercial use.</p></notes>"
    )
    name, evidence = class_of(tmp_path, "", back=notes)
    assert name == "CC-BY-NC"
    assert "Creative Commons" in evidence


def test_a_body_that_talks_about_licences_is_no_statement(tmp_path):
    body = "<p>Many data sets are now released under Creative Commons licences, and open access is growing.</p>"
    assert class_of(tmp_path, "", body)[0] == "UNKNOWN"


def test_open_access_alone_is_not_creative_commons(tmp_path):
    assert class_of(tmp_path, licence("", kind="open-access"))[0] == "UNKNOWN"
    assert class_of(tmp_path, licence("This is an open access article.", kind="open-access"))[0] == "PUBLISHER-OPEN"


def test_all_rights_reserved_is_not_ingested_unless_settings_say_so(tmp_path):
    name, reason = class_of(tmp_path, "<copyright-statement>© 2020 X. All rights reserved.</copyright-statement>")
    assert name == "set aside"
    assert "ALL-RIGHTS-RESERVED" in reason


def test_a_copyright_line_does_not_overrule_an_explicit_grant(tmp_path):
    # The usual boilerplate of open-access publishers: rights are reserved *and* licensed.
    line = "<copyright-statement>© 2020 X. All rights reserved.</copyright-statement>"
    assert class_of(tmp_path, line + licence("CC BY", BY))[0] == "CC-BY"


def test_an_abstract_states_no_licence(tmp_path):
    from tests.literature.papers_on_disk import citation, citation_set

    _, papers, _ = read_all([write(tmp_path, "c.xml", citation_set(citation(1)))])
    assert papers.papers["licence"].to_list() == ["UNKNOWN"]


@given(st.text(max_size=300))
def test_nothing_is_open_by_accident(text):
    found = classify([text])
    assert found.name in CLASSES
    if found.name in REDISTRIBUTABLE:
        lowered = text.lower()
        assert any(word in lowered for word in ("creative", "cc", "public", "government", "copyright"))


@given(st.lists(st.sampled_from(sorted(STATEMENTS)), max_size=5))
def test_order_does_not_matter(statements):
    assert classify(statements).name == classify(reversed(statements)).name


def test_the_shared_articles_have_the_class_their_manifest_states(shared_data):
    from starling_assets.literature.sources import SourceFile

    folder = shared_data / "literature"
    rows = [line.split("\t") for line in (folder / "MANIFEST.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    stated = {row[0].removeprefix("jats/"): row[5] for row in rows if row[0].startswith("jats/")}
    _, papers, _ = read_all([SourceFile.of(folder / "jats" / name) for name in sorted(stated)])
    found = dict(papers.papers.select("source_file", "licence").iter_rows())
    wrong = {}
    for name, words in stated.items():
        words = words.strip('"').upper()
        expected = "PUBLISHER-OPEN" if words.startswith("BMC-OA") else words.split()[0].split("[")[0]
        if found[name] != expected:
            wrong[name] = (found[name], expected)
    # Its link says CC BY, its words say non-commercial: the manifest took the link.
    assert wrong == {"PMC3961219.nxml.gz": ("CC-BY-NC", "CC-BY")}
