"""Who waits for a lock, in the order of their turns."""

MOST_BEHIND = 15


def waiters_in(record):
    """Who waits, in the order of their turns."""
    if record is None or record["waitingOwnerId"] is None:
        return []
    return [record["waitingOwnerId"], *record.get("waitingBehind", [])]


def with_line(record, waiters, front_until_s):
    """A front that was there before keeps its time, for only a waiter itself can say that it is alive."""
    front, behind = (waiters[0], waiters[1:]) if waiters else (None, [])
    until_s = record["waiterExpiresAt"] if front == record["waitingOwnerId"] else front and front_until_s
    kept = {name: value for name, value in record.items() if name != "waitingBehind"}
    return {**kept, "waitingOwnerId": front, "waiterExpiresAt": until_s, **({"waitingBehind": behind} if behind else {})}
