"""A dozen works of different kinds, as they are in bibliographies."""

from __future__ import annotations

from jupyter_ai_shoulders.references.styles.messages import WorkRequest

WORKS: dict[str, WorkRequest] = {
    work["key"]: work
    for work in (
        WorkRequest(
            key="Lovelace2020a",
            type="article",
            fields={
                "author": "Lovelace, Ada and Hopper, Grace M.",
                "title": "Residual learning for {DNA} sequences",
                "journal": "Journal of Machine Learning",
                "volume": "12",
                "number": "3",
                "pages": "101--119",
                "year": "2020",
                "month": "may",
                "doi": "https://doi.org/10.1000/abc",
            },
        ),
        WorkRequest(
            key="Lovelace2020b",
            type="article",
            fields={
                "author": "Ada Lovelace and Grace M. Hopper",
                "title": "Second paper of the year",
                "journal": "Nature",
                "volume": "500",
                "pages": "1--9",
                "year": "2020",
            },
        ),
        WorkRequest(
            key="Knuth1997",
            type="book",
            fields={
                "author": "Knuth, Donald E.",
                "title": "The art of computing",
                "publisher": "Addison-Wesley",
                "address": "Reading, MA",
                "edition": "Third",
                "year": "1997",
            },
        ),
        WorkRequest(
            key="Vaswani2017",
            type="inproceedings",
            fields={
                "author": "Vaswani, Ashish and Shazeer, Noam and Parmar, Niki and Uszkoreit, Jakob"
                " and Jones, Llion and Gomez, Aidan N. and Kaiser, {\\L}ukasz"
                " and Polosukhin, Illia",
                "title": "Attention is all you need",
                "booktitle": "Advances in Neural Information Processing Systems",
                "volume": "30",
                "pages": "5998--6008",
                "year": "2017",
            },
        ),
        WorkRequest(
            key="Gogh2001",
            type="incollection",
            fields={
                "author": "Vincent van Gogh",
                "title": "A chapter about tests",
                "editor": "Doe, Jane and Roe, Richard",
                "booktitle": "Handbook of Things",
                "publisher": "Springer",
                "address": "Berlin",
                "pages": "33--44",
                "year": "2001",
            },
        ),
        WorkRequest(
            key="Smith2010",
            type="phdthesis",
            fields={
                "author": "Smith, Jr., John",
                "title": "On theses",
                "school": "MIT",
                "year": "2010",
            },
        ),
        WorkRequest(
            key="WHO",
            type="online",
            fields={
                "author": "{World Health Organization}",
                "title": "A page without a date",
                "url": r"\url{https://www.who.int/a_b}",
                "urldate": "2024-03-04",
            },
        ),
        WorkRequest(
            key="Muller1999",
            type="techreport",
            fields={
                "author": 'M{\\"u}ller, J{\\"o}rg-Peter',
                "title": "A report \\& its {\\textit{appendix}}",
                "institution": "NASA",
                "number": "TR-12",
                "year": "1999",
            },
        ),
        WorkRequest(
            key="Ho2020",
            type="misc",
            fields={
                "author": "Ho, Jonathan and Jain, Ajay and Abbeel, Pieter",
                "title": "A preprint",
                "eprint": "2006.11239",
                "archiveprefix": "arXiv",
                "year": "2020",
            },
        ),
        WorkRequest(
            key="Bern2021",
            type="dataset",
            fields={
                "author": "{City of Bern}",
                "title": "Bike counts",
                "publisher": "Zenodo",
                "doi": "10.5281/zenodo.1",
                "year": "2021",
            },
        ),
        WorkRequest(
            key="Times1950",
            type="article",
            fields={
                "title": "No author here",
                "journal": "The Times",
                "date": "1950-01-02",
            },
        ),
        WorkRequest(
            key="Harris2020",
            type="software",
            fields={
                "author": "Harris, Charles R.",
                "title": "NumPy",
                "version": "1.2",
                "url": "https://numpy.org",
                "year": "2020",
            },
        ),
    )
}
