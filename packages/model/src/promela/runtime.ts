/**
 * How actors work together, in C: mailboxes, starts, stops and timers as xstate delivers them. It
 * is written apart from the checker's own delivery, so that spin finds a mistake in either.
 */
export const PROMELA_RUNTIME = String.raw`
#define ROW(table, i) table[(i) / 512][(i) % 512]
enum { IDLE, BUSY, ENDED };
enum { MAIL = 256, STOP = -1, SELF = -1, PARENT = -2, GONE = -3, NO_SLOT = -1 };

/* Only while something is going on; at rest everything is in sys. */
static int phase[SLOTS], attached[SLOTS], born[SLOTS], begun[SLOTS];
static int mail[SLOTS][MAIL], mails[SLOTS];
static int said;

static void fail(const char *why) { fprintf(stderr, "model: %s\n", why); sys.wrong = 1; }
static int at(int slot) { return sys.local[slot] - 1; }

/* The third number of the row that begins with these two; rows are sorted. */
static int find(const int (*const *rows)[3], int count, int one, int two)
{ int low = 0, high = count - 1;
  while (low <= high)
  { int middle = (low + high) / 2;
    const int *row = ROW(rows, middle);
    if (row[0] == one && row[1] == two) return row[2];
    if (row[0] < one || (row[0] == one && row[1] < two)) low = middle + 1; else high = middle - 1;
  }
  return -2;
}

static int slot_of(int parent, int id)
{ for (int i = 0; i < SLOTS; i++) if (ROW(slots, i)[0] == parent && ROW(slots, i)[1] == id) return i;
  return NO_SLOT;
}
static int child(int parent, int id)
{ int slot = slot_of(parent, id);
  return slot != NO_SLOT && attached[slot] ? slot : NO_SLOT;
}

static void post(int slot, int event)
{ if (mails[slot] == MAIL) fail("a mailbox is full"); else mail[slot][mails[slot]++] = event; }

static void work(int slot);
static void send(int slot, int event)
{ if (slot == NO_SLOT || phase[slot] == ENDED || ROW(locals, at(slot))[0] == 1) return;
  post(slot, event);
  if (phase[slot] == IDLE) work(slot);
}
/* To a child that this step starts: until then it keeps what it gets. */
static void send_newborn(int slot, int step, int event)
{ if (begun[slot]) send(slot, event);
  else if (ROW(locals, ROW(steps, step)[0])[0] != 1) post(slot, event);
}

static void add_timer(int slot, int timer)
{ short *own = sys.timer[slot];
  int i = 0;
  if (timer < 0) { fail("a timer that the tables do not have"); return; }
  while (i < TIMERS && own[i]) i++;
  if (i == TIMERS) fail("too many timers"); else own[i] = timer + 1;
}
static void drop_timer(int slot, int i)
{ short *own = sys.timer[slot];
  for (; i < TIMERS - 1; i++) own[i] = own[i + 1];
  own[TIMERS - 1] = 0;
}

static void forget(int slot)
{ int parent = ROW(slots, slot)[0];
  if (!attached[slot] || parent < 0) return;
  attached[slot] = 0;
  for (int i = 0; i < TIMERS; i++)
  { short *own = &sys.timer[parent][i];
    if (*own && ROW(timers, *own - 1)[2] >= 0 && ROW(timers, *own - 1)[2] / 2 == ROW(slots, slot)[1])
    { int gone = ROW(timers, *own - 1)[3];
      if (gone < 0) fail("a timer that the tables do not have"); else *own = gone + 1;
    }
  }
}

static void stop(int slot);
static void discard(int slot)
{ phase[slot] = ENDED;
  for (int i = 0; i < SLOTS; i++) if (ROW(slots, i)[0] == slot && attached[i]) stop(i);
}
static void stop(int slot)
{ if (slot == NO_SLOT) return;
  forget(slot);
  if (phase[slot] == IDLE) discard(slot); else { mails[slot] = 0; post(slot, STOP); }
}

/* The end of an actor by itself, of which its parent hears. */
static void leave(int slot, int event)
{ int parent = ROW(slots, slot)[0];
  phase[slot] = ENDED;
  for (int i = 0; i < TIMERS; i++) sys.timer[slot][i] = 0;
  for (int i = 0; i < SLOTS; i++) if (ROW(slots, i)[0] == slot) attached[i] = 0;
  if (parent < 0) return;
  forget(slot);
  if (event < 0) fail("an end that the tables do not have"); else send(parent, event);
}

static void say(int effect)
{ said = 1;
#ifdef MONITOR
  if (sys.monitor == BROKEN) return;
  int next = find(monitor_rows, MONITOR_ROWS, sys.monitor, effect);
  if (next == -2) fail("the monitor comes to a state that its table does not have"); else sys.monitor = next;
#endif
}

static void perform(int slot, int step);
static void start(int parent, int id, int step)
{ int slot = slot_of(parent, id);
  if (!born[slot]) return;
  if (attached[slot]) { fail("a second child of one name"); return; }
  sys.local[slot] = ROW(steps, step)[0] + 1;
  attached[slot] = begun[slot] = 1;
  for (int i = 0; i < TIMERS; i++) sys.timer[slot][i] = 0;
  if (ROW(locals, at(slot))[0] == 1) { phase[slot] = IDLE; return; }
  phase[slot] = BUSY;
  perform(slot, step);
  if (phase[slot] != ENDED) work(slot);
}

static int step_of_newborn(int slot, int step)
{ for (int i = ROW(steps, step)[1]; i < ROW(steps, step)[2]; i++)
    if (ROW(commands, i)[0] == 1 && ROW(commands, i)[2] == ROW(slots, slot)[1]) return ROW(commands, i)[1];
  return NO_SLOT;
}

static void perform(int slot, int step)
{ sys.local[slot] = ROW(steps, step)[0] + 1;
  for (int i = 0; i < SLOTS; i++) if (ROW(slots, i)[0] == slot) born[i] = 0;
  for (int i = ROW(steps, step)[1]; i < ROW(steps, step)[2]; i++)
  { if (ROW(commands, i)[0] != 1) continue;
    int newborn = slot_of(slot, ROW(commands, i)[2]);
    if (phase[newborn] == BUSY && !attached[newborn] && begun[newborn]) fail("a child is replaced in the middle of its work");
    born[newborn] = 1;
    begun[newborn] = 0;
    if (!attached[newborn]) mails[newborn] = 0;
  }
  for (int i = ROW(steps, step)[1]; i < ROW(steps, step)[2]; i++)
  { int what = ROW(commands, i)[1], to = ROW(commands, i)[2];
    switch (ROW(commands, i)[0])
    { case 0: say(what); break;
      case 1: start(slot, to, what); break;
      case 2: stop(child(slot, to)); break;
      case 3:
        if (to == SELF) send(slot, what);
        else if (to == PARENT) send(ROW(slots, slot)[0], what);
        else if (to >= 0 && to % 2 == 0) send(child(slot, to / 2), what);
        else if (to >= 0 && born[slot_of(slot, to / 2)])
        { int newborn = slot_of(slot, to / 2);
          send_newborn(newborn, step_of_newborn(newborn, step), what);
        }
        break;
      case 4:
      { int target = ROW(timers, what)[2];
        if (target >= 0 && target % 2 == 1)
        { int plain = ROW(timers, what)[4];
          add_timer(slot, plain < 0 ? -1 : born[slot_of(slot, target / 2)] ? plain : ROW(timers, plain)[3]);
        }
        else add_timer(slot, target >= 0 && child(slot, target / 2) == NO_SLOT ? ROW(timers, what)[3] : what);
        break;
      }
      case 5:
        for (int t = 0; t < TIMERS; t++)
          if (sys.timer[slot][t] && ROW(timers, sys.timer[slot][t] - 1)[0] == what) { drop_timer(slot, t); break; }
    }
  }
  if (ROW(locals, at(slot))[0] == 2) leave(slot, slot == 0 ? 0 : find(ends, ENDS, at(slot), ROW(slots, slot)[1]));
}

static void work(int slot)
{ phase[slot] = BUSY;
  while (mails[slot] > 0)
  { int event = mail[slot][0];
    mails[slot]--;
    memmove(mail[slot], mail[slot] + 1, mails[slot] * sizeof(int));
    if (event == STOP) { discard(slot); return; }
    int step = find(rows, ROWS, at(slot), event);
    if (step < 0) { fail("an actor gets an event in a state where the checker never saw it"); return; }
    perform(slot, step);
    if (phase[slot] == ENDED) return;
  }
  phase[slot] = IDLE;
}

/* Everything is at rest: what is no part of the tree any more is forgotten. */
static void rest(void)
{ for (int i = 0; i < SLOTS; i++)
  { int parent = ROW(slots, i)[0];
    if (parent >= 0 && (!attached[i] || !sys.local[parent]))
    { sys.local[i] = 0;
      attached[i] = 0;
      for (int t = 0; t < TIMERS; t++) sys.timer[i][t] = 0;
    }
    short *own = sys.timer[i];
    for (int a = 1; a < TIMERS && own[a]; a++)
      for (int b = a; b > 0 && own[b - 1] > own[b]; b--) { short t = own[b]; own[b] = own[b - 1]; own[b - 1] = t; }
  }
#ifdef MONITOR
  if (sys.monitor != BROKEN && ROW(wrong_at_rest, sys.monitor)[0]) sys.monitor = BROKEN;
#endif
}

static void wake(void)
{ said = 0;
  for (int i = 0; i < SLOTS; i++)
  { attached[i] = begun[i] = sys.local[i] != 0;
    phase[i] = sys.local[i] && ROW(locals, at(i))[0] != 2 ? IDLE : ENDED;
    born[i] = mails[i] = 0;
  }
}

static void begin(void)
{ wake();
  attached[0] = 1;
  phase[0] = BUSY;
  perform(0, ROOT);
  if (phase[0] != ENDED) work(0);
  rest();
}

static int can(int choice)
{ int slot = ROW(choices, choice)[1];
  if (sys.wrong || !sys.local[0] || ROW(locals, at(0))[0] == 2 || !sys.local[slot]) return 0;
  switch (ROW(choices, choice)[0])
  { case 0: return 1;
    case 1:
      for (int t = 0; t < TIMERS; t++) if (sys.timer[slot][t] == ROW(choices, choice)[2] + 1) return 1;
      return 0;
  }
  for (int i = ROW(choices, choice)[3]; i < ROW(choices, choice)[4]; i++) if (ROW(opaque, i)[0] == at(slot)) return 1;
  return 0;
}

static void take(int choice)
{ int slot = ROW(choices, choice)[1], what = ROW(choices, choice)[2];
  wake();
#ifdef MONITOR
  if (HEARD_ROWS > 0)
  { int next = find(heard_rows, HEARD_ROWS, sys.monitor, choice);
    if (next == -2) fail("the monitor comes to a state that its table does not have"); else sys.monitor = next;
  }
#endif
  switch (ROW(choices, choice)[0])
  { case 0: send(0, what); break;
    case 1:
    { int to = ROW(timers, what)[2];
      for (int t = 0; t < TIMERS; t++) if (sys.timer[slot][t] == what + 1) { drop_timer(slot, t); break; }
      if (to == SELF) send(slot, ROW(timers, what)[1]);
      else if (to == PARENT) send(ROW(slots, slot)[0], ROW(timers, what)[1]);
      else if (to >= 0) send(child(slot, to / 2), ROW(timers, what)[1]);
      break;
    }
    case 2: leave(slot, what); break;
    case 3: send(ROW(slots, slot)[0], what); break;
  }
  rest();
}
`
