/*
 * One lease, kept in one record that is compared and swapped, and three processes that want it again and again. Every order is
 * explored in which they read, claim, stand in line, renew, hand over, release and die, in which their requests are applied,
 * late or never, and in which answers are lost. Time passes at any of their steps, so that each of them may be slow, or frozen for
 * however long, and wakes up where it was. Clocks differ by the whole margin.
 *
 * What the record is after a claim, a renewal, a release or a change of its line, and what may be done about a record, comes from
 * `rules.pml`, which `src/infrastructure/locking/lease/protocol` works out for each case before each run.
 *
 * No number grows without end. Of a version, each process knows whether it is still the record's; of an owner's sign of life,
 * whether it has seen it; of a fence, whether a greater one was given. Times are counted up to where they make no difference any more.
 * A record that is not there is one that is free and in which nobody waits.
 *
 * Chosen with -D: CRASHES, how many processes die; IN_STEP, whether all that live do one thing per tick, so that it can be
 * asked whether who waits gets in; then one of them may be frozen once, LOSSES answers are lost, and owners stay until somebody
 * waits. And one planted fault:
 *   BLIND_CLAIMS     a record is taken over without a look at its version
 *   NO_MARGIN        an owner is taken for dead as soon as its time is over by an observer's clock
 *   LATE_COUNT       a lease that is found by reading counts from then on
 *   ANY_RELEASE      a release does not look who the owner is
 *   LEAVES_ONCE      a release that is not answered is not repeated
 *   DEAF_OWNERS      an owner does not look who waits
 */
#include "rules.pml"

#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef LOSSES
#define LOSSES 1
#endif

#define NOBODY 3

/* True silence after which an observer with the fastest of clocks takes an owner for dead. */
#ifdef NO_MARGIN
#define EARLIEST (TTL - MARGIN)
#else
#define EARLIEST TAKEN_FROM
#endif

mtype:stage = { wanting, inside, leaving, dead }
mtype:request = { nothing, claim, renewal, release, join, joinForDead, withdraw, restate }

/* The record. */
byte owner = NOBODY, line;
/* For how long its owner has shown no life; since when the write was sent that did. */
byte quietFor, sentFor;

/* A write whose sender has given up waiting: it may still be applied, as long as the record is as it was. */
byte lateOf = NOBODY;
mtype:request late;
byte lateSent;

mtype:stage stage[3];
mtype:request asks[3];
/* Of what it asks: since when; whether it was applied, and whether the record is still as that supposes. */
byte sent[3];
bool applied[3], fits[3], oldFence[3];
/* Whether its version of the record is the current one; whether it knows the owner's sign, and since when. */
bool knows[3], met[3];
byte silent[3];
/* As an owner: how much of its lease is over by its own clock. */
byte used[3];
byte crashes;

#ifdef IN_STEP
byte losses, freezes;
byte frozen = NOBODY;
bool excused[3], moved[3], asked[3];
byte freeFor[3];
#define mayStep (!moved[me] && frozen != me)
#define step moved[me] = true
#else
#define mayStep true
#define step skip
#endif

#ifdef BLIND_CLAIMS
#define mayBePut(p) (!applied[p] && (fits[p] || asks[p] == claim))
#else
#define mayBePut(p) (!applied[p] && fits[p])
#endif

#define sure(p) (stage[p] == inside && used[p] < TTL)
#define hasHalf(p) ((TTL - used[p]) * 2 >= TTL)

/* Never two that believe in their lease. */
inline look() {
  assert(!(sure(0) && sure(1)) && !(sure(0) && sure(2)) && !(sure(1) && sure(2)))
}

inline forget(p) {
  asks[p] = nothing; sent[p] = 0; applied[p] = false; fits[p] = false; oldFence[p] = false
}

/* What is refused by then is heard of at once: a process that hears of it late is one that goes on late. */
inline outdated(p) {
  fits[p] = false;
  if
  :: !applied[p] && !mayBePut(p) -> forget(p)
  :: else -> skip
  fi
}

inline isWritten() {
  knows[0] = false; knows[1] = false; knows[2] = false;
  outdated(0); outdated(1); outdated(2);
  lateOf = NOBODY; late = nothing; lateSent = 0
}

inline showsLife() {
  met[0] = false; met[1] = false; met[2] = false;
  silent[0] = 0; silent[1] = 0; silent[2] = 0;
  quietFor = 0
}

inline put(who, what, since) {
  if
  :: what == claim ->
    assert(!oldFence[who]);
    oldFence[0] = (asks[0] == claim); oldFence[1] = (asks[1] == claim); oldFence[2] = (asks[2] == claim);
    oldFence[who] = false;
    owner = who; line = afterClaim(line, who); sentFor = since; showsLife()
  :: what == renewal -> line = afterRenewal(line, who); owner = who; sentFor = since; showsLife()
  :: what == release -> line = afterRelease(line, who); owner = NOBODY; sentFor = 0; showsLife()
  :: what == join -> line = whenJoined(line, who, 0)
  :: what == joinForDead -> line = whenJoined(line, who, 1)
  :: what == withdraw -> line = withoutOne(line, who)
  :: what == restate -> skip
  fi;
  isWritten()
}

inline isOut(p) {
  stage[p] = wanting;
  printf("%d is out\n", p);
  /* What was released is free of whoever released it. */
  assert(owner != p && !isIn(line, p) && lateOf != p)
}

inline land(p) {
  d_step { mayBePut(p) ->
    printf("%d lands\n", p);
    applied[p] = true;
    put(p, asks[p], sent[p]);
    if
    :: stage[p] != dead && (asks[p] == claim || asks[p] == renewal) -> fits[p] = true
    :: stage[p] == leaving && asks[p] != renewal -> forget(p); isOut(p)
    :: else -> forget(p)
    fi
  }
}

proctype Service() {
  byte who;
end:
  do
  :: land(0)
  :: land(1)
  :: land(2)
  :: d_step { lateOf != NOBODY -> printf("%d lands late\n", lateOf); who = lateOf; put(who, late, lateSent); who = 0 }
  :: d_step { lateOf != NOBODY -> lateOf = NOBODY; late = nothing; lateSent = 0; printf("service loses\n") }
  od
}

inline older(count, most) {
  if
  :: count < most -> count++
  :: else -> skip
  fi
}

inline olderOf(p) {
  if
  :: asks[p] == claim || asks[p] == renewal -> older(sent[p], TTL)
  :: else -> skip
  fi;
  if
  :: stage[p] == inside -> older(used[p], TTL)
  :: else -> skip
  fi;
#ifdef IN_STEP
  if
  :: owner == NOBODY && knows[p] -> older(freeFor[p], FREE_FOR)
  :: owner != NOBODY && met[p] && silent[p] == EARLIEST -> older(freeFor[p], FREE_FOR)
  :: else -> skip
  fi;
  moved[p] = false;
#endif
  if
  :: met[p] && owner != NOBODY && owner != p -> older(silent[p], EARLIEST)
  :: else -> skip
  fi
}

#ifdef IN_STEP
#define isDone(p) (stage[p] == dead || frozen == p || moved[p])
#define isQuiet(p) (stage[p] == dead || frozen == p || !mayBePut(p))
#define mayPass (isDone(0) && isDone(1) && isDone(2) && isQuiet(0) && isQuiet(1) && isQuiet(2))
#else
#define mayPass true
#endif

proctype Time() {
end:
  do
  :: d_step { mayPass ->
      printf("time passes\n");
      olderOf(0); olderOf(1); olderOf(2);
      if
      :: owner != NOBODY ->
        older(sentFor, TTL);
#ifdef ASKS_AGES
        older(quietFor, EARLIEST)
#endif
      :: else -> skip
      fi;
      if
      :: late == claim || late == renewal -> older(lateSent, TTL)
      :: else -> skip
      fi
    }
  od
}

inline die(p) {
  d_step { crashes < CRASHES && stage[p] != dead ->
    printf("%d dies\n", p);
    crashes++;
    stage[p] = dead;
    knows[p] = false; met[p] = false; silent[p] = 0; used[p] = 0;
#ifdef IN_STEP
    asked[p] = false; freeFor[p] = 0; excused[p] = true; moved[p] = false;
#endif
    if
    :: applied[p] -> forget(p)
    :: else -> skip
    fi
  }
}

proctype Fate() {
end:
  do
  :: die(0)
  :: die(1)
  :: die(2)
#ifdef IN_STEP
  :: d_step { freezes == 0 -> freezes = 1; frozen = 0; excused[0] = true; printf("0 freezes\n") }
  :: d_step { freezes == 0 -> freezes = 1; frozen = 1; excused[1] = true; printf("1 freezes\n") }
  :: d_step { freezes == 0 -> freezes = 1; frozen = 2; excused[2] = true; printf("2 freezes\n") }
  :: d_step { frozen != NOBODY -> frozen = NOBODY; printf("the frozen one wakes up\n") }
#endif
  od
}

inline send(what) {
  asks[me] = what; sent[me] = 0; applied[me] = false;
  fits[me] = knows[me];
  printf("%d sends %e\n", me, asks[me]);
  if
  :: !mayBePut(me) -> forget(me)
  :: else -> skip
  fi
}

/* What a read shows. A write that it shows to be missing cannot have been applied before. */
inline read() {
#ifdef IN_STEP
  if
  :: owner == NOBODY && !knows[me] -> freeFor[me] = 0
  :: owner != NOBODY && (!met[me] || silent[me] < EARLIEST) -> freeFor[me] = 0
  :: else -> skip
  fi;
#endif
  knows[me] = true;
  if
  :: owner != NOBODY && owner != me && stage[me] == wanting -> met[me] = true
  :: else -> skip
  fi;
  if
  :: lateOf == me -> lateSent = 0
  :: else -> skip
  fi
}

inline leave() {
  stage[me] = leaving;
  used[me] = 0;
  met[me] = false;
  silent[me] = 0
#ifdef IN_STEP
  ; asked[me] = false
#endif
}

/* Only an owner writes without reading first. */
inline forgetVersion() {
#ifdef IN_STEP
  skip
#else
  if
  :: stage[me] == inside -> skip
  :: else -> knows[me] = false
  fi
#endif
}

inline enter() {
  stage[me] = inside;
  printf("%d enters\n", me);
  look()
}

/* With less than half of it left, or with a write of its own that may still come, a lease is renewed before it is relied on. */
inline enterOrConfirm(isUndecided) {
  if
  :: !(isUndecided) && hasHalf(me) -> enter()
  :: else -> used[me] = 0; send(renewal)
  fi
}

/* Nobody counts on an answer. */
inline giveUp() {
  if
  :: applied[me] -> knows[me] = false
  :: else -> lateOf = me; late = asks[me]; lateSent = sent[me]
  fi;
  printf("%d gives up\n", me);
  forget(me)
}

#ifdef IN_STEP
#define mayWait true
#define mayLose (losses < LOSSES)
#define loses losses++
#define mayLeave asked[me]
#define mayRenew (!asked[me] && used[me] * 2 >= TTL)
#define mayLook (!asked[me] && used[me] * 2 < TTL)
#define hears(p) asked[p] = (asked[p] || line != 0)
#else
/* One of them is enough to see what waiting does to exclusion. */
#define mayWait (me == 2)
#define mayLose true
#define loses skip
#define mayLeave true
#define mayRenew true
#define mayLook true
#endif

proctype Process(byte me) {
  bit frontIsDead;
  byte free;
end:
  do
  /* Reads, judges, and does what follows. */
  :: atomic { mayStep && stage[me] == wanting && asks[me] == nothing ->
      step;
      printf("%d looks\n", me);
      read();
#ifdef IN_STEP
      frontIsDead = front(line) != NOBODY && stage[front(line)] == dead;
      free = freeFor[me];
#else
      /* Whether who is in front lives, and whether it has had its time, decides about order alone. */
      if
      :: front(line) != NOBODY && front(line) != me -> frontIsDead = 1
      :: frontIsDead = 0
      fi;
      if
      :: front(line) != NOBODY && front(line) != me -> free = FREE_FOR
      :: free = 0
      fi;
#ifdef ASKS_AGES
      if
      :: owner != NOBODY && owner != me -> silent[me] = quietFor
      :: true
      fi;
#endif
#endif
      if
      :: owner == me ->
#ifdef LATE_COUNT
        used[me] = 0;
#else
        used[me] = sentFor;
#endif
        enterOrConfirm(lateOf == me)
      :: else ->
        if
        :: verdict(owner, line, me, silent[me] >= EARLIEST, frontIsDead, free) == SAYS_CLAIM -> met[me] = false; silent[me] = 0; send(claim)
        :: verdict(owner, line, me, silent[me] >= EARLIEST, frontIsDead, free) == SAYS_JOIN ->
          if
          :: !mayWait -> skip
          :: mayWait && frontIsDead -> send(joinForDead)
          :: mayWait && !frontIsDead -> send(join)
          fi
        :: else -> skip
        fi
      fi;
      forgetVersion();
      frontIsDead = 0; free = 0
    }
#ifndef IN_STEP
  /* Who has left no trace is out at once. */
  :: d_step { stage[me] == wanting && asks[me] == nothing && (owner == me || isIn(line, me) || lateOf == me) ->
      leave();
      printf("%d has waited enough\n", me)
    }
#endif

  :: d_step { mayStep && applied[me] ->
      step;
      printf("%d hears\n", me);
      knows[me] = fits[me];
      if
      :: stage[me] == wanting -> used[me] = sent[me]; forget(me); enterOrConfirm(false)
      :: stage[me] == inside -> used[me] = sent[me]; forget(me); look()
      :: else -> forget(me)
      fi;
      forgetVersion()
    }
  :: d_step { mayStep && mayLose && (applied[me] || (fits[me] && lateOf == NOBODY)) ->
      step;
      loses;
      giveUp();
#ifdef LEAVES_ONCE
      if
      :: stage[me] == leaving -> isOut(me)
      :: else -> skip
      fi
#endif
    }

  /* Inside: its end is known without asking anybody. */
  :: d_step { mayStep && stage[me] == inside && used[me] >= TTL ->
      step;
      leave();
      printf("%d has lost it\n", me)
    }
  :: d_step { mayStep && stage[me] == inside && asks[me] == nothing && mayRenew -> step; send(renewal) }
  :: d_step { mayStep && stage[me] == inside && asks[me] == nothing && mayLook ->
      step;
      read();
      printf("%d looks\n", me);
      if
      :: owner != me ->
        leave();
        printf("%d has lost it\n", me)
      :: else ->
#if defined(IN_STEP) && !defined(DEAF_OWNERS)
        hears(me);
#endif
        if
        :: sentFor < used[me] -> used[me] = sentFor; look()
        :: else -> skip
        fi
      fi
    }
  :: d_step { mayStep && stage[me] == inside && asks[me] == nothing && used[me] < TTL && mayLeave ->
      step;
      leave();
      send(release);
      forgetVersion()
    }

  /* Leaving: until nothing of it is left, and nothing can come. */
  :: d_step { mayStep && stage[me] == leaving && asks[me] == nothing ->
      step;
      read();
      printf("%d looks\n", me);
      if
#ifdef ANY_RELEASE
      :: owner != NOBODY -> send(release)
#else
      :: owner == me -> send(release)
#endif
      :: owner != me && isIn(line, me) -> send(withdraw)
      :: owner != me && !isIn(line, me) && lateOf == me -> send(restate)
      :: else -> isOut(me)
      fi;
      forgetVersion()
    }
  od
}

init {
  atomic {
    stage[0] = wanting; stage[1] = wanting; stage[2] = wanting;
    asks[0] = nothing; asks[1] = nothing; asks[2] = nothing;
    late = nothing;
    run Service();
    run Time();
    run Fate();
    run Process(0);
    run Process(1);
    run Process(2)
  }
}

#ifdef IN_STEP
ltl served { [] ((isIn(line, 2) && stage[2] == wanting) -> <> (stage[2] == inside || excused[2])) }
#endif
