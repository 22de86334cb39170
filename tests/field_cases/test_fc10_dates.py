"""FC-10: dates that are mixed, ranged and half known. A missing part of a date is not "01"."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from starling_assets.literature.dates import UNKNOWN, PublicDate, earliest_of, free_text, of_parts
from tests.literature.papers_on_disk import article, citation, citation_set, read_all, write


def journal(pub_date: str) -> str:
    return f"<Journal><JournalIssue CitedMedium='Print'><PubDate>{pub_date}</PubDate></JournalIssue></Journal>"


CITATIONS = {
    "electronic day inside a print year": (
        journal("<Year>2018</Year>")
        + "<ArticleDate DateType='Electronic'><Year>2018</Year><Month>03</Month><Day>01</Day></ArticleDate>",
        (date(2018, 3, 1), date(2018, 3, 1), "day"),
    ),
    "two months": (
        journal("<MedlineDate>1990 May-Jun</MedlineDate>"),
        (date(1990, 5, 1), date(1990, 6, 30), "range"),
    ),
    "over the year": (
        journal("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>"),
        (date(1998, 12, 1), date(1999, 1, 31), "range"),
    ),
    "up to a day": (
        journal("<MedlineDate>2022 Jan-Feb 01</MedlineDate>"),
        (date(2022, 1, 1), date(2022, 2, 1), "range"),
    ),
    "season in words": (
        journal("<MedlineDate>Fall 2016</MedlineDate>"),
        (date(2016, 1, 1), date(2016, 12, 31), "season"),
    ),
    "season as an element": (
        journal("<Year>2016</Year><Season>Fall</Season>"),
        (date(2016, 1, 1), date(2016, 12, 31), "season"),
    ),
    "year only": (journal("<Year>2019</Year>"), (date(2019, 1, 1), date(2019, 12, 31), "year")),
    "year and month": (journal("<Year>2016</Year><Month>Feb</Month>"), (date(2016, 2, 1), date(2016, 2, 29), "month")),
    "no date": ("", (None, None, "unknown")),
    "words only": (journal("<MedlineDate>in press</MedlineDate>"), (None, None, "unknown")),
    "print day after an electronic day": (
        journal("<Year>2005</Year><Month>Sep</Month><Day>1</Day>")
        + "<ArticleDate DateType='Electronic'><Year>2005</Year><Month>05</Month><Day>31</Day></ArticleDate>",
        (date(2005, 5, 31), date(2005, 5, 31), "day"),
    ),
}
REVISED = "<DateRevised><Year>2018</Year><Month>03</Month><Day>18</Day></DateRevised>"
ENTERED = (
    "<PubmedData><History><PubMedPubDate PubStatus='received'><Year>2001</Year><Month>1</Month><Day>1</Day><"
    "/PubMedPubDate>"
    "<PubMedPubDate PubStatus='accepted'><Year>2001</Year><Month>2</Month><Day>1</Day></PubMedPubDate>"
    "<PubMedPubDate PubStatus='entrez'><Year>2001</Year><Month>3</Month><Day>1</Day></PubMedPubDate></History><"
    "/PubmedData>"
)


def read_row(tmp_path, inside: str, more: str = REVISED, history: str = "") -> dict:
    record = citation(1, inside=inside, more=more).replace("</PubmedArticle>", f"{history}</PubmedArticle>")
    citations, _, _ = read_all([write(tmp_path, "c.xml", citation_set(record))])
    return citations.citations.row(0, named=True)


@pytest.mark.parametrize("name", sorted(CITATIONS))
def test_pubmed(tmp_path, name):
    inside, (earliest, latest, precision) = CITATIONS[name]
    row = read_row(tmp_path, inside)
    assert (row["public_earliest"], row["public_latest"], row["public_precision"]) == (earliest, latest, precision)


def test_the_words_of_a_season_are_kept(tmp_path):
    assert read_row(tmp_path, journal("<MedlineDate>Fall 2016</MedlineDate>"))["public_text"] == "Fall 2016"


def test_received_accepted_and_entry_are_not_publication(tmp_path):
    row = read_row(tmp_path, journal("<Year>2002</Year>"), history=ENTERED)
    assert row["public_earliest"] == date(2002, 1, 1)


def test_a_publication_date_among_the_history_counts(tmp_path):
    history = ENTERED.replace("PubStatus='entrez'", "PubStatus='epublish'")
    row = read_row(tmp_path, journal("<Year>2002</Year>"), history=history)
    assert (row["public_earliest"], row["public_precision"]) == (date(2001, 3, 1), "day")


JATS = {
    "electronic and print": (
        (
            '<pub-date pub-type="epub"><day>31</day><month>5</month><year>2005</year></pub-date>'
            '<pub-date pub-type="ppub"><month>9</month><year>2005</year></pub-date>'
        ),
        (date(2005, 5, 31), date(2005, 5, 31), "day"),
    ),
    "collection year beside an electronic day": (
        (
            '<pub-date pub-type="collection"><year>2018</year></pub-date>'
            '<pub-date date-type="pub" publication-format="electronic" iso-8601-date="2018-04-02"><day>02</day>'
            "<month>04</month>"
            "<year>2018</year></pub-date>"
        ),
        (date(2018, 4, 2), date(2018, 4, 2), "day"),
    ),
    "season": (
        '<pub-date pub-type="ppub"><season>Summer</season><year>2011</year></pub-date>',
        (date(2011, 1, 1), date(2011, 12, 31), "season"),
    ),
    "months in the season": (
        '<pub-date pub-type="ppub"><season>Jan-Feb</season><year>2011</year></pub-date>',
        (date(2011, 1, 1), date(2011, 2, 28), "range"),
    ),
    "31 September": (
        '<pub-date pub-type="ppub"><day>31</day><month>9</month><year>2005</year></pub-date>',
        (date(2005, 9, 1), date(2005, 9, 30), "month"),
    ),
    "iso only": (
        '<pub-date pub-type="epub" iso-8601-date="2020-02-29"/>',
        (date(2020, 2, 29), date(2020, 2, 29), "day"),
    ),
    "received only": (
        '<history><date date-type="received"><day>1</day><month>1</month><year>2004</year></date></history>',
        (None, None, "unknown"),
    ),
    "none": ("", (None, None, "unknown")),
}


@pytest.mark.parametrize("name", sorted(JATS))
def test_jats(tmp_path, name):
    dates, (earliest, latest, precision) = JATS[name]
    _, papers, _ = read_all([write(tmp_path, "a.nxml", article(dates=dates))])
    row = papers.papers.row(0, named=True)
    assert (row["public_earliest"], row["public_latest"], row["public_precision"]) == (earliest, latest, precision)


CUTOFFS = [
    (of_parts("2018", "03", "01"), date(2018, 2, 28), False),
    (of_parts("2018", "03", "01"), date(2018, 3, 1), True),
    (free_text("1990 May-Jun"), date(1990, 6, 15), False),
    (free_text("1990 May-Jun"), date(1990, 6, 30), True),
    (of_parts("2019"), date(2019, 6, 30), False),
    (of_parts("2019"), date(2019, 12, 31), True),
    (UNKNOWN, date(2999, 1, 1), False),
]


@pytest.mark.parametrize(("public", "cutoff", "shown"), CUTOFFS)
def test_a_paper_is_shown_only_when_it_was_certainly_public(public, cutoff, shown):
    assert public.public_by(cutoff) is shown


WORDS = {
    "2015 Mar 3": (date(2015, 3, 3), date(2015, 3, 3), "day"),
    "2015 Mar 3-10": (date(2015, 3, 3), date(2015, 3, 10), "range"),
    "2015 Mar 30-Apr 5": (date(2015, 3, 30), date(2015, 4, 5), "range"),
    "1975-1976": (date(1975, 1, 1), date(1976, 12, 31), "range"),
    "Winter 1995-1996": (date(1995, 1, 1), date(1996, 12, 31), "range"),
    "1977 Jul-Aug": (date(1977, 7, 1), date(1977, 8, 31), "range"),
    "2003 3rd Quarter": (date(2003, 1, 1), date(2003, 12, 31), "year"),
    "March 2001": (date(2001, 3, 1), date(2001, 3, 31), "month"),
    "2000 Feb 31": (date(2000, 2, 1), date(2000, 2, 29), "month"),
    "": (None, None, "unknown"),
    "n.d.": (None, None, "unknown"),
    "12345": (None, None, "unknown"),
}


@pytest.mark.parametrize("text", sorted(WORDS))
def test_dates_in_words(text):
    found = free_text(text)
    assert (found.earliest, found.latest, found.precision) == WORDS[text]


@given(st.text(max_size=40))
def test_no_words_break_the_reader(text):
    found = free_text(text)
    assert (found.earliest is None) == (found.latest is None) == (found.precision == "unknown")
    if found.earliest and found.latest:
        assert found.earliest <= found.latest


@given(*[st.one_of(st.none(), st.text("0123456789-Jan ", max_size=5), st.integers(-1, 3000).map(str))] * 3)
def test_no_parts_break_the_reader(year, month, day):
    found = of_parts(year, month, day)
    if found.earliest and found.latest:
        assert found.earliest <= found.latest
        assert (found.precision == "day") == (found.earliest == found.latest)


@given(st.lists(st.dates(date(1800, 1, 1), date(2090, 1, 1)), min_size=1, max_size=5))
def test_the_earliest_day_counts(days):
    found = earliest_of(PublicDate(day, day, "day") for day in days)
    assert found.earliest == found.latest == min(days)


def test_nothing_known_is_unknown():
    assert earliest_of([]) == earliest_of([UNKNOWN, UNKNOWN]) == UNKNOWN
