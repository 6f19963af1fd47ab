# cython: language_level=3
"""Candidates: the kept pages that the checks of a new page bring up, the most similar first, read when they are needed.

A page that the new one updates is no candidate. A caller that stops early reads no more.
"""

import cython


class Candidates:
    """The candidates for one page, as of one moment; the index may be used meanwhile.

    Args:
        catalog: Where to look: it has views of its postings, and records at hand.
        entry: The page.
        first_id: Pages below are no candidates.
        lock: Held while the catalog makes a view or a record.
        read: Makes something of each of some packed records, as they are now.
        signed: Slot, check and signature of each check that did not abstain, in the order in which they are asked.
        most: So many of one check's candidates are compared, the newest.
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
        most: cython.Py_ssize_t,
        symmetric: object,
        after: object,
    ):
        self.catalog, self.entry, self.lock, self.read = catalog, entry, lock, read
        self.signed, self.most, self.symmetric = signed, most, symmetric
        self.at_hand, self.views, self.end = catalog.at_hand, catalog.views, catalog.next_id
        self.superseded, self.first_id = {}, first_id
        if after is not None and after.catalog is catalog:
            self.superseded, self.first_id = after.superseded, max(first_id, cython.cast(Candidates, after).end)
        # What was read of pages; several checks bring up the same one.
        self.signatures, self.raw, self.entries = {}, {}, {}

    def similar(self):
        """Check by check, in their order, what it accepts: most similar first, among equals the nearest by all checks.

        A candidate costs its signature and one `compare`, and of these there is a limit.

        Yields:
            The name of a check, and an iterator over id, entry without signatures, and similarity.
        """
        for slot, check, own in self.signed:
            pages: list = self.pages(slot, check.candidates, own)
            if pages:
                yield check.name, self.still_kept(self.accepted(slot, check, own, pages), None)

    def inside(self):
        """Check by check kept pages that by its signatures lie inside the new one, oldest first; none of its URL."""
        for slot, check, own in self.signed:
            if type(check).contained is self.symmetric:
                continue
            pages: list = self.pages(slot, check.contained, own)
            pages = [page for page in pages if page not in self.superseded]
            if pages:
                theirs: list = self.signatures_of(slot, pages)
                rows: list = []
                i: cython.Py_ssize_t
                for i in range(len(pages)):
                    if theirs[i] is not None and check.compare(theirs[i], own) is not None:
                        rows.append((0.0, 0.0, pages[i], 1.0))
                yield check.name, self.still_kept(rows, self.entry.url)

    def still_kept(self, rows: list, url: object):
        """Those of some pages that are still kept, not under this URL, and of which the new page is no update."""
        for _, _, page, similarity in rows:
            if page not in self.entries:
                kept: object = self.record(page).page
                self.entries[page] = None if kept is None or self.entry.updates(kept) else kept
            entry: object = self.entries[page]
            if entry is not None and (url is None or entry.url != url):
                yield page, entry, similarity

    def pages(self, slot, look_up, own):
        """The newest pages that a check brings up, ascending."""
        number: cython.Py_ssize_t
        view: object = self.views.get((slot, self.first_id))
        if view is None:
            with self.lock:
                view = self.catalog.view(slot, self.first_id)
        pages: list = look_up(own, view)
        if len(pages) > 1:
            pages = sorted(set(pages))
        made: list = []
        for page in pages:
            number = page
            if self.first_id <= number < self.end:
                made.append(page)
        return made if len(made) <= self.most else made[len(made) - self.most :]

    def accepted(self, slot, check, own, pages):
        """The pages that a check accepts: most similar first, then by the distance of all signatures, then oldest.

        All the pages of one template may be as similar; a duplicate is among the nearest of them. In a row stand the
        three numbers by which they are sorted, and the similarity.
        """
        rows: list = []
        alike: dict = {}  # similarity → how many have it
        i: cython.Py_ssize_t
        theirs: list = self.signatures_of(slot, pages)
        for i in range(len(pages)):
            similarity: object = None if theirs[i] is None else check.compare(own, theirs[i])
            if similarity is not None:
                rows.append((-similarity, 0.0, pages[i], similarity))
                alike[similarity] = alike.get(similarity, 0) + 1
        if len(rows) > 1:
            for i in range(len(rows)):
                first, _, page, similarity = rows[i]
                if alike[similarity] > 1:
                    rows[i] = first, self.distance(page), page, similarity
            rows.sort()
        return rows

    def signatures_of(self, slot, pages):
        """What each of these pages has in a slot, which a damaged record may lack."""
        missing: list = []
        for page in pages:
            if page not in self.signatures:
                record: object = self.at_hand.get(page)
                if record is None:
                    missing.append(page)
                else:
                    self.signatures[page] = record.signatures
        if missing:
            for page, (raw, made) in zip(missing, self.read(self.catalog.copied, missing), strict=True):
                self.raw[page], self.signatures[page] = raw, made
        return [signatures[slot] if slot < len(signatures := self.signatures[page]) else None for page in pages]

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
