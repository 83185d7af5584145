"""Being inside: renewals, and knowing one's own end without asking anybody."""

import random
import threading
import time

from lease_wire import Failed, Unreadable, now_ms


class Tenure:
    """Being inside: renewed in the background until `release`, or until the lease ends."""

    def __init__(self, attempt, record, version, counts_from):
        self.attempt, self.record, self.version = attempt, record, version
        self.counts_from = counts_from or (float("-inf"), float("-inf"))
        self.is_lost, self.over = False, threading.Event()
        self.thread = threading.Thread(target=self._live, daemon=True)

    @property
    def fence(self):
        return self.record["fence"]

    def left_ms(self):
        monotonic_ms, wall_ms = self.counts_from
        passed_ms = max(now_ms() - monotonic_ms, time.time() * 1000 - wall_ms)
        return self.attempt.lock.ttl_ms - passed_ms

    def is_held(self):
        """Ask on the line before a point of no return."""
        return not self.is_lost and not self.over.is_set() and self.left_ms() > 0

    def renew(self):
        """One try. A refusal is a question, and a missing answer is looked for: only the record tells of a loss."""
        lock, version = self.attempt.lock, self.version
        if version in self.attempt.undecided:
            record, version = self.attempt.read()
            if record is None or record["ownerId"] != self.attempt.owner_id:
                self.is_lost = True
                return
            sent = self.attempt.sent.get(record.get("renewSeq"))
            self.counts_from = max(self.counts_from, sent or self.counts_from)
            mine = {name: value for name, value in self.record.items() if name != "waitingBehind"}
            fields = ("waitingOwnerId", "waiterExpiresAt", "waitingBehind")
            self.record = {**mine, **{name: record[name] for name in fields if name in record}}
            self.version = version
        again = self.attempt.own({**self.record, "ownerAgeMs": 0})
        written = self.attempt.write(again, version)
        if written is None:
            self.attempt.undecided.add(version)
            return self.renew()
        self.record, self.version = again, written
        self.counts_from = self.attempt.sent[again["renewSeq"]]
        self.attempt.sent = {again["renewSeq"]: self.counts_from}

    def release(self):
        """Ends the tenure; the record may be taken when this returns."""
        self.over.set()
        self.thread.join()
        self.attempt.leave()

    def _live(self):
        ttl_ms, pause_ms = self.attempt.lock.ttl_ms, self.attempt.lock.ttl_ms / 3
        while not self.over.wait(pause_ms / 1000) and not self.is_lost:
            if self.left_ms() <= 0:
                self.is_lost = True
                return
            try:
                self.renew()
                pause_ms = ttl_ms / 3
            except Unreadable:
                self.is_lost = True
            except Failed as error:
                pause_ms = 1_050 + random.random() * 250 if error.throttled else min(100, ttl_ms / 15)
