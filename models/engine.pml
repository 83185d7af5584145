/*
 * One payment and three processes: two callers, each with an operation and a key of its own, and the reconciler. Every
 * order is explored in which they read, write, send, ask, wait for the lock and die, and in which requests to the gateway
 * land, late or never. The gateway is naive: it honours a key, and moves money again under another one.
 *
 * What a status allows and where it leads comes from `transitions.pml`, which is made from
 * `src/domain/payment/transitions.ts` before each run.
 *
 * Chosen with -D: FIRST and SECOND, what the callers want (to_capture, to_void, to_refund); UNLOCKED, a lock that excludes nobody,
 * so that the version of a row is all that is left; CRASHES, how many processes die; and one planted fault:
 *   ABSENCE_CLOSES   the gateway's "I do not know this key" ends an operation
 *   BLIND_WRITES     a row is written without a look at its version
 *   EARLY_TIME       the time is read before the wait for the lock
 */
#include "transitions.pml"

#ifndef FIRST
#define FIRST to_capture
#endif
#ifndef SECOND
#define SECOND to_capture
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef TURNS
#define TURNS 2
#endif

#define NO_PROCESS 9
#define RECONCILER 2

mtype:operation = { none, started, succeeded, failed }
mtype:answer = { unrecorded, done, refused, gone }

/* The store's row. */
byte version;
mtype:status status;
mtype:operation operation[2];

/* The gateway's books, and what is on its way to it: a second copy of a key changes nothing. */
mtype:answer recorded[2];
bool flying[2];
byte captured, voided, refunded;

byte holder = NO_PROCESS;
bool lapsed;
byte crashes;
bool killed[3];
mtype:kind wanted[2];

/* What must never be. Looked at after each step of the gateway and of the store. */
inline look() {
  assert(captured <= 1);
  assert(refunded <= captured);
  assert(!(captured && voided));
  assert(operation[0] != succeeded || recorded[0] == done);
  assert(operation[1] != succeeded || recorded[1] == done);
  assert(operation[0] != failed || recorded[0] != done);
  assert(operation[1] != failed || recorded[1] != done)
}

/* The gateway takes a request. */
inline land(k1) {
  d_step {
    flying[k1];
    flying[k1] = false;
    printf("gateway lands %d\n", k1);
    if
    :: recorded[k1] != unrecorded -> skip
    :: else ->
      if
      :: wanted[k1] == to_capture && voided -> recorded[k1] = gone
      :: wanted[k1] == to_capture && !voided -> captured++; recorded[k1] = done
      :: wanted[k1] == to_void && captured -> recorded[k1] = refused
      :: wanted[k1] == to_void && !captured -> voided = 1; recorded[k1] = done
      :: wanted[k1] == to_refund -> refunded++; recorded[k1] = done
      fi
    fi;
    look()
  }
}

proctype Network() {
end:
  do
  :: land(0)
  :: land(1)
  :: d_step { flying[0] -> flying[0] = false; printf("gateway loses 0\n") }
  :: d_step { flying[1] -> flying[1] = false; printf("gateway loses 1\n") }
  od
}

/* The authorization's time passes, once. */
proctype Time() {
end:
  d_step { !lapsed -> lapsed = true; printf("time lapses\n") }
}

/* Kills processes, at any of their steps. */
proctype Death() {
  byte victim;
end:
  do
  :: crashes < CRASHES ->
    select(victim : 0 .. 2);
    d_step { killed[victim] = true; crashes++; printf("%d dies\n", victim) }
  :: crashes == CRASHES -> break
  od
}

/* Writes the row, if it is as it was read. */
#ifdef BLIND_WRITES
#define asRead true
#else
#define asRead (version == seen)
#endif

inline written(to_, k2, row_) {
  status = to_;
  if
  :: k2 < 2 -> operation[k2] = row_
  :: else -> skip
  fi;
  version++;
  look()
}

/* The gateway's answer for a key is written down, on whatever the row is by now. */
inline settle(k3, answer_) {
  do
  :: d_step { seen = version; decided = operation[k3] };
    if
    :: decided != started -> break
    :: else ->
      if
      :: d_step { asRead ->
          if
          :: answer_ == done ->
            if
            :: wanted[k3] == to_capture -> after(status, by_capture_succeeded, next)
            :: wanted[k3] == to_void -> after(status, by_void_succeeded, next)
            :: wanted[k3] == to_refund -> after(status, by_refund_succeeded, next)
            fi;
            written(next, k3, succeeded);
            printf("%d settles %d as succeeded\n", me, k3)
          :: answer_ == gone ->
            after(status, by_authorization_gone, next);
            written(next, k3, failed);
            printf("%d settles %d as gone\n", me, k3)
          :: answer_ == refused ->
            next = status;
            written(next, k3, failed);
            printf("%d settles %d as failed\n", me, k3)
          fi } -> break
      :: d_step { !(asRead) -> printf("%d conflicts\n", me) }
      fi
    fi
  od
}

/* A send, and its answer or the end of the patience with it. */
inline send(k4) {
  d_step { flying[k4] = true; said = unrecorded; printf("%d sends %d\n", me, k4) };
  if
  :: d_step { recorded[k4] != unrecorded -> said = recorded[k4]; printf("%d hears of %d\n", me, k4) }
  :: d_step { true -> printf("%d gives up on %d\n", me, k4) }
  fi;
  if
  :: said != unrecorded -> settle(k4, said)
  :: else -> skip
  fi
}

/* What became of an open operation: the gateway is asked, and the key is sent again if it does not know it. */
inline resolve(k5, mayResend) {
  d_step { seen = version; decided = operation[k5] };
  if
  :: decided != started -> skip
  :: else ->
    d_step { said = recorded[k5]; printf("%d asks about %d\n", me, k5) };
    if
    :: said != unrecorded -> settle(k5, said)
#ifdef ABSENCE_CLOSES
    :: said == unrecorded -> settle(k5, refused)
#else
    :: said == unrecorded && mayResend ->
      if
      :: d_step { asRead -> version++; printf("%d claims %d\n", me, k5) } -> send(k5)
      :: d_step { !(asRead) -> printf("%d conflicts\n", me) }
      fi
    :: said == unrecorded && !mayResend -> skip
#endif
    fi
  fi
}

inline enter() {
#ifdef UNLOCKED
  wasLapsed = lapsed
#else
  d_step { holder == NO_PROCESS -> holder = me; wasLapsed = lapsed; printf("%d enters\n", me) }
#endif
}

inline leave() {
  d_step {
    if
    :: holder == me -> holder = NO_PROCESS
    :: else -> skip
    fi;
    printf("%d leaves\n", me)
  }
}

/* A process that was killed does nothing more, and its lock is free. */
inline die() {
  d_step {
    killed[me];
    if
    :: holder == me -> holder = NO_PROCESS
    :: else -> skip
    fi
  }
}

/* Decides and writes the intent; `chosen` says whether there is something to send. */
inline begin(k6, isLate) {
  chosen = false;
  d_step { seen = version; was = status; decided = operation[k6]; other = operation[rival] };
  if
  :: decided != none || other == started -> skip
  :: else ->
    allowed(wanted[k6], was, may);
    if
    :: !may -> skip
    :: may && wanted[k6] == to_refund && other == succeeded -> skip
    :: may && isLate && wanted[k6] != to_refund ->
      d_step {
        if
        :: asRead -> after(was, by_authorization_lapsed, next); written(next, 2, none); printf("%d expires\n", me)
        :: else -> skip
        fi
      }
    :: else ->
      d_step {
        if
        :: asRead ->
          /* The wait for the lock may have outlived the authorization. */
          assert(!wasLapsed || wanted[k6] == to_refund);
          written(was, k6, started);
          chosen = true;
          printf("%d intends %d\n", me, k6)
        :: else -> printf("%d conflicts\n", me)
        fi
      }
    fi
  fi
}

proctype Caller(byte me; byte key) {
  byte seen;
  mtype:status was, next;
  mtype:operation decided, other;
  mtype:answer said;
  bool chosen, may, late, wasLapsed;
  byte rival = 1 - key;
  {
#ifdef EARLY_TIME
    late = lapsed;
#endif
    enter();
    d_step { decided = operation[key]; other = operation[rival] };
    if
    :: decided == started -> resolve(key, true)
    :: decided != started && other == started -> resolve(rival, false)
    :: else -> skip
    fi;
#ifndef EARLY_TIME
    late = lapsed;
#endif
    begin(key, late);
    if
    :: chosen -> send(key)
    :: else -> skip
    fi;
    leave()
  } unless { die() }
}

proctype Reconciler() {
  byte me = RECONCILER, seen, turns;
  mtype:status was, next;
  mtype:operation decided, other;
  mtype:answer said;
  bool wasLapsed;
  {
    do
    :: turns < TURNS ->
      turns++;
      enter();
      d_step { seen = version; was = status; decided = operation[0]; other = operation[1] };
      if
      :: decided == started -> resolve(0, true)
      :: other == started -> resolve(1, true)
      :: decided != started && other != started && lapsed && was == is_authorized ->
        d_step {
          if
          :: asRead ->
            after(was, by_authorization_lapsed, next);
            written(next, 2, none);
            printf("%d expires\n", me)
          :: else -> skip
          fi
        }
      :: else -> skip
      fi;
      leave()
    :: turns == TURNS -> break
    od
  } unless { die() }
}

init {
  atomic {
    wanted[0] = FIRST;
    wanted[1] = SECOND;
    operation[0] = none;
    operation[1] = none;
    recorded[0] = unrecorded;
    recorded[1] = unrecorded;
    if
    :: FIRST == to_refund -> status = is_captured; captured = 1
    :: else -> status = is_authorized
    fi;
    run Network();
    run Time();
    run Death();
    run Caller(0, 0);
    run Caller(1, 1);
    run Reconciler()
  }
}
