# cython: language_level=3
"""Search: the kept pages that the checks of a new page bring up, the most similar first, read when they are needed.

A candidate costs its signature and one `compare`, and of these there is a limit. A page that the new one updates is no
candidate. A caller that stops early reads no more.
"""

import cython

COMPARED_LIMIT = 1000
"""The most candidates of one check that are compared, the newest."""
_LIMIT = cython.declare(cython.Py_ssize_t, COMPARED_LIMIT)


class Search:
    """What an index knows that may concern a new page, as of one moment; the index may be used meanwhile.

    Args:
        catalog: Where to look: it has views of its postings, and records at hand.
        entry: The page.
        first_id: Pages below are no candidates.
        lock: Held while the catalog makes a view or a record.
        read: Makes something of each of some packed records, as they are now.
        signed: Slot, check and signature of each check that did not abstain, in the order in which they are asked.
        symmetric: What `contained` of a check is that never finds a page inside another.
        after: A search for the same page whose candidates are not brought up again, and whose findings stand; without
            effect when it was in another catalog. None if there is none.

    Attributes:
        end: All pages below this number were looked at.
        superseded: Id → URL of the kept pages for which the new one stands: those inside it, and poorer copies.
    """

    def __cinit__(
        self,
        catalog: object,
        entry: object,
        first_id: cython.Py_ssize_t,
        lock: object,
        read: object,
        signed: list,
        symmetric: object,
        after: object,
    ):
        self.catalog, self.entry, self.lock, self.read = catalog, entry, lock, read
        self.signed, self.symmetric = signed, symmetric
        self.at_hand, self.views, self.end = catalog.at_hand, catalog.views, catalog.next_id
        self.superseded, self.first_id = {}, first_id
        if after is not None and after.catalog is catalog:
            self.superseded, self.first_id = after.superseded, max(first_id, cython.cast(Search, after).end)
        # What was read of pages; several checks bring up the same one.
        self.signatures, self.raw, self.entries = {}, {}, {}

    def kept(self):
        """The page that is kept under the same URL, without its signatures."""
        with self.lock:
            kept = self.catalog.newest(self.entry.url, self.record)
        return None if kept is None else kept[1].page

    def is_outdated(self, by: object) -> bool:
        """Whether a page of a catalog that was not looked at may change what was found."""
        if by.next_id <= self.end:
            return False
        later: list = by.ids_of(self.entry.url)
        for slot, check, own in self.signed:
            postings: object = by.view(slot, self.end)
            later += check.candidates(own, postings)
            later += check.contained(own, postings)
        return any([page >= self.end for page in later])

    @property
    def superseded_urls(self):
        """The URLs of `superseded`, oldest page first."""
        return tuple([url for _, url in sorted(self.superseded.items())]) if self.superseded else ()

    def entry_of(self, page):
        """A page, if it is still kept and the new one is no update of it; else None."""
        if page not in self.entries:
            kept: object = self.record(page).page
            self.entries[page] = None if kept is None or self.entry.updates(kept) else kept
        return self.entries[page]

    def view(self, slot):
        """The postings of a check, without those of pages that are no candidates."""
        view: object = self.views.get((slot, self.first_id))
        if view is None:
            with self.lock:
                view = self.catalog.view(slot, self.first_id)
        return view

    def pages(self, brought_up):
        """The newest of the pages that a check brings up, ascending."""
        page: cython.Py_ssize_t
        pages: list = sorted(set(brought_up)) if len(brought_up) > 1 else brought_up
        pages = [page for page in pages if self.first_id <= page < self.end]
        return pages if len(pages) <= _LIMIT else pages[len(pages) - _LIMIT :]

    def accepted(self, slot, check, own):
        """The pages that a check accepts: most similar first, then by the distance of all signatures, then oldest.

        All the pages of one template may be as similar; a duplicate is among the nearest of them. A row holds the three
        numbers by which they are sorted, the third is the page's, and the similarity.
        """
        pages: list = self.pages(check.candidates(own, self.view(slot)))
        rows: list = []
        alike: dict = {}  # similarity → how many have it
        page: object
        for page in pages:
            theirs: object = self.signature(page, slot, pages)
            similarity: object = None if theirs is None else check.compare(own, theirs)
            if similarity is not None:
                rows.append((-similarity, 0.0, page, similarity))
                alike[similarity] = alike.get(similarity, 0) + 1
        if len(rows) > 1:
            rows = [
                (first, self.distance(page) if alike[similarity] > 1 else 0.0, page, similarity)
                for first, _, page, similarity in rows
            ]
            rows.sort()
        return rows

    def contained(self, slot, check, own):
        """The pages that lie inside the new one by a check, oldest first, without those in `superseded`."""
        rows: list = []
        if type(check).contained is self.symmetric:
            return rows
        page: object
        pages: list = self.pages(check.contained(own, self.view(slot)))
        pages = [page for page in pages if page not in self.superseded]
        for page in pages:
            theirs: object = self.signature(page, slot, pages)
            if theirs is not None and check.compare(theirs, own) is not None:
                rows.append((0.0, 0.0, page, 1.0))
        return rows

    def signature(self, page, slot, pages):
        """What a page has in a slot, which a damaged record may lack; with it all of some pages are read."""
        signatures: tuple = self.signatures.get(page)
        if signatures is None:
            missing: list = []
            for one in pages:
                if one not in self.signatures:
                    record: object = self.at_hand.get(one)
                    if record is None:
                        missing.append(one)
                    else:
                        self.signatures[one] = record.signatures
            if missing:
                for one, (raw, made) in zip(missing, self.read(self.catalog.copied, missing), strict=True):
                    self.raw[one], self.signatures[one] = raw, made
            signatures = self.signatures[page]
        return signatures[slot] if slot < len(signatures) else None

    def distance(self, page):
        """The distance of all signatures of a page that was read."""
        kept: tuple = self.signatures[page]
        total: cython.double = 0.0
        for slot, check, own in self.signed:
            theirs: object = kept[slot] if slot < len(kept) else None
            total += 1.0 if theirs is None else check.dissimilarity(own, theirs)
        return total

    def record(self, page):
        """The record of a page."""
        record: object = self.at_hand.get(page)
        if record is None and page in self.raw:
            with self.lock:
                if self.catalog.next_id == self.end:  # else it may have ended since it was read
                    record = self.catalog.undamaged(self.raw[page], page)
        return self.read(self.catalog.unpack, (page,))[0] if record is None else record
