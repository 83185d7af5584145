"""A lock in a bucket that is shared with Holdfast, by docs/lease-wire-format.md. See README.md for what it leaves out."""

import os
import random
import secrets
import socket
import time

from lease_line import MOST_BEHIND, waiters_in, with_line
from lease_tenure import Tenure
from lease_wire import Failed, Unreadable, next_fence, now_ms

MARGIN_MS = 2_000
DRIFT_SHARE = 0.03
FOREIGN_QUIET_MS = 60_000
LOOKED_AWAY_MS = 2_000


class Lock:
    """One lock of one process. What it has seen of the record stays with it, so keep it as long as the process lives."""

    def __init__(self, bucket, lock_id, ttl_ms=30_000, waiter_ttl_ms=30_000, yield_ms=5_000, poll_ms=1_000):
        self.bucket, self.lock_id, self.ttl_ms = bucket, lock_id, ttl_ms
        self.waiter_ttl_ms, self.yield_ms, self.poll_ms = waiter_ttl_ms, yield_ms, poll_ms
        self.fence = 0
        self._owner = self._waiter = self._version = (None, 0.0)
        self._read_at_ms = float("-inf")
        self.owner_since_ms = 0.0

    def acquire(self, timeout_s, operation=None):
        """A Tenure, or None when the time is over; `Unreadable` where a person has to look first."""
        attempt = _Attempt(self, operation)
        until_ms = now_ms() + timeout_s * 1000
        try:
            while True:
                pause_ms = self.poll_ms
                try:
                    tenure = attempt.step()
                    if tenure is not None:
                        return tenure
                except Failed as error:
                    pause_ms = 1_050 + random.random() * 250 if error.throttled else 100
                left_ms = until_ms - now_ms()
                if left_ms <= 0:
                    break
                time.sleep(min(pause_ms, left_ms) / 1000)
        except Unreadable:
            attempt.leave()
            raise
        attempt.leave()
        return None

    def look(self):
        """Reads, and keeps since when the owner, the waiter and the version have been as they are."""
        found = self.bucket.read(self.lock_id)
        at_ms = now_ms()
        looked_away = at_ms - self._read_at_ms > LOOKED_AWAY_MS
        if found is None:
            self._read_at_ms = at_ms
            self._owner = self._waiter = self._version = (None, at_ms)
            return None, 0
        record, version = found
        self.fence = max(self.fence, record.get("fence", 0))
        # Without ttlMs, an owner's only sign of life is a new expiresAt.
        life = (record.get("fence"), record.get("renewSeq")) if "ttlMs" in record else record["expiresAt"]
        sign, waiter = (record["ownerId"], life), (record["waitingOwnerId"], record["waiterExpiresAt"])
        age_ms = 0
        if looked_away and sign != self._owner[0] and (record["ownerId"] or record["waitingOwnerId"]):
            age_ms = self.bucket.age_ms(self.lock_id, version)
            if age_ms is None:
                return self.look()
        self._read_at_ms, written_ms = at_ms, at_ms - age_ms
        owner_ms = written_ms - record.get("ownerAgeMs", 0)
        self._owner = (sign, min(owner_ms, self._owner[1] if sign == self._owner[0] else owner_ms))
        self._waiter = (waiter, self._waiter[1] if waiter == self._waiter[0] else written_ms)
        self._version = (version, self._version[1] if version == self._version[0] else written_ms)
        self.owner_since_ms = self._owner[1]
        return record, version

    def free_since_ms(self, record):
        """From when on nobody is inside, which may be still to come."""
        if record is None or record["ownerId"] is None:
            return self._version[1]
        if "ttlMs" in record:
            return self.owner_since_ms + record["ttlMs"] + max(MARGIN_MS, DRIFT_SHARE * record["ttlMs"]) + 1
        expired = record["expiresAt"] * 1000 < self.bucket.service_ms() - 1_000
        return self.owner_since_ms + FOREIGN_QUIET_MS if expired else float("inf")

    def waiter_is_dead(self):
        return now_ms() - self._waiter[1] > self.waiter_ttl_ms + MARGIN_MS


class _Attempt:
    """One tenure, from its first request to its last: one owner id, and what was sent and never answered."""

    def __init__(self, lock, operation):
        self.lock, self.bucket, self.lock_id = lock, lock.bucket, lock.lock_id
        self.owner_id = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_urlsafe(12)}"
        self.holder = {"host": socket.gethostname(), "pid": os.getpid(), "operation": operation, "since": time.time()}
        self.renew_seq = 0
        self.sent = {}  # renewSeq: when a claim or renewal with it was sent, by both clocks
        self.undecided = set()  # versions that a write without an answer was conditional on
        self.waited_at_ms = float("-inf")

    def read(self):
        record, version = self.lock.look()
        self.undecided &= {version}
        return record, version

    def write(self, record, version):
        self.undecided.add(version)
        try:
            written = self.bucket.write(self.lock_id, record, version)
        except Failed as error:
            if error.throttled:
                self.undecided.discard(version)
            raise
        self.undecided.discard(version)
        return written

    def own(self, record):
        """Sends a claim or a renewal: the same record with one more sign of life."""
        self.renew_seq += 1
        self.sent[self.renew_seq] = (now_ms(), time.time() * 1000)
        return {**record, "renewSeq": self.renew_seq, "expiresAt": time.time() + self.lock.ttl_ms / 1000}

    def step(self):
        """A Tenure, or None: somebody is inside, or something changed meanwhile."""
        record, version = self.read()
        if record is not None and record["ownerId"] == self.owner_id:
            return self.enter(record, version)
        at_ms, free_ms = now_ms(), self.lock.free_since_ms(record)
        waiters = waiters_in(record)
        ahead = waiters.index(self.owner_id) if self.owner_id in waiters else len(waiters)
        front_is_dead = ahead > 0 and self.lock.waiter_is_dead()
        turns = 0 if front_is_dead and ahead == 1 else ahead
        if free_ms <= at_ms and (turns == 0 or at_ms - free_ms > turns * self.lock.yield_ms):
            return self.claim(record, version)
        if free_ms > at_ms and self.should_write(record, ahead, front_is_dead):
            self.wait(record, version, waiters[1:] if front_is_dead else waiters)
        return None

    def should_write(self, record, ahead, front_is_dead):
        """To stand in line, to show that we still do, or to take a dead waiter's place."""
        waiters = waiters_in(record)
        if waiters == [] or front_is_dead:
            return True
        if ahead == 0:
            return now_ms() - self.waited_at_ms > self.lock.waiter_ttl_ms / 3
        return ahead == len(waiters) and len(waiters) <= MOST_BEHIND and "ttlMs" in record

    def claim(self, record, version):
        lock = self.lock
        fence = next_fence((record or {}).get("fence", 0), lock.fence, self.bucket.service_ms())
        mine = self.own({
            "ownerId": self.owner_id, "expiresAt": 0, "waitingOwnerId": None, "waiterExpiresAt": None,
            "ttlMs": lock.ttl_ms, "renewSeq": 0, "fence": fence, "ownerAgeMs": 0, "holder": self.holder,
        })  # fmt: skip
        waiters = waiters_in(record)
        if self.owner_id in waiters:
            mine = with_line(mine, waiters[waiters.index(self.owner_id) + 1 :], self.waits_until_s())
        written = self.write(mine, version)
        return None if written is None else self.enter(mine, written)

    def enter(self, record, version):
        """With less than half of the lease left, or a write that may still come, it is renewed before it is believed."""
        if "ttlMs" not in record:
            return self.claim(record, version)  # a waiter that knows only four fields wrote it back
        tenure = Tenure(self, record, version, self.sent.get(record.get("renewSeq")))
        if version in self.undecided or tenure.left_ms() < self.lock.ttl_ms / 2:
            tenure.renew()
        if tenure.is_lost or tenure.left_ms() < self.lock.ttl_ms / 2:
            return None
        tenure.thread.start()
        return tenure

    def waits_until_s(self):
        return time.time() + self.lock.waiter_ttl_ms / 1000

    def wait(self, record, version, waiters):
        line = waiters if self.owner_id in waiters else [*waiters, self.owner_id]
        again = with_line(record, line, self.waits_until_s())
        if line[0] == self.owner_id:
            again["waiterExpiresAt"] = self.waits_until_s()
        sent_ms = now_ms()
        if self.write(self.aged(again), version) is not None:
            self.waited_at_ms = sent_ms

    def aged(self, record):
        if "ttlMs" not in record or record["ownerId"] is None:
            return record
        return {**record, "ownerAgeMs": max(0, int(now_ms() - self.lock.owner_since_ms))}

    def leave(self):
        """Until the record certainly never names us again, or so long that our lease is over anyway."""
        until_ms = now_ms() + self.lock.ttl_ms + MARGIN_MS
        while now_ms() < until_ms:
            try:
                record, version = self.read()
                if record is None and version not in self.undecided:
                    return
                if record is not None:
                    left = self.without_us(record)
                    if left == record and version not in self.undecided:
                        return
                    if self.write(self.aged(left), version) is not None:
                        return
                else:
                    # Something has to be there, so that a claim for "there is none" comes too late.
                    free = {"ownerId": None, "expiresAt": 0, "waitingOwnerId": None, "waiterExpiresAt": None}
                    free |= {"ttlMs": self.lock.ttl_ms, "renewSeq": 0, "fence": 0, "ownerAgeMs": 0, "holder": None}
                    if self.write(free, version) is not None:
                        return
            except Unreadable:
                return
            except Failed as error:
                time.sleep(1.1 if error.throttled else 0.1)

    def without_us(self, record):
        if record["ownerId"] == self.owner_id:
            free = {"ownerId": None, "expiresAt": 0}
            record = {**record, **free, **({"holder": None, "ownerAgeMs": 0} if "ttlMs" in record else {})}
        waiters = waiters_in(record)
        if self.owner_id in waiters:
            waiters.remove(self.owner_id)
            record = with_line(record, waiters, self.waits_until_s())
        return record
