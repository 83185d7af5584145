"""As lock-storm-child.ts on a lease in a bucket, with the peer of examples/lease-peer."""

import json
import os
import random
import signal
import sys
import time

given = json.loads(os.environ["LEASE_PEER_CHILD"])
sys.path.insert(0, given["peer"])

from lease_peer import Lock  # noqa: E402
from lease_wire import Bucket, now_ms  # noqa: E402

LONG_MS = 1_200
over = []
signal.signal(signal.SIGTERM, lambda *_: over.append(True))


def say(line):
    print(line, flush=True)


def be_inside(tenure):
    is_long = random.random() < 0.1
    from_ms, step = now_ms(), 0
    while now_ms() < from_ms + LONG_MS if is_long else step < 4:
        # Before the question, so that it is true of this moment if it is true at all.
        asked_ms = now_ms()
        if not tenure.is_held():
            return
        say(f"held {tenure.fence} {asked_ms}")
        if is_long and step == 0:
            say("long")
        step += 1
        time.sleep(0.003)


lock = Lock(Bucket(given["endpoint"], given["bucket"], given["prefix"], timeout_s=1.0), given["id"], **given["times"])
ended_ms = now_ms()
while not over:
    # To give up waiting takes as long as to be out of the record, which is the peer's own matter.
    tenure = lock.acquire(timeout_s=given["timeout_s"])
    if tenure is not None:
        be_inside(tenure)
        ended_ms = now_ms()
        tenure.release()
say(f"closed {now_ms() - ended_ms}")
