import ivm from "isolated-vm";

/** Messages of the inspector protocol, as JSON texts, between a debugger and an isolate. */
export interface DebugChannel {
  /** To the debugger. */
  send(message: string): void;
  /** Calls back with each message of the debugger. */
  listen(onMessage: (message: string) => void): void;
}

/** Keeps messages of the debugger until the isolate listens: the debugger may be faster than the start of the isolate. */
export class DebugMessages implements DebugChannel {
  readonly send: (message: string) => void;
  #early: string[] = [];
  #onMessage: ((message: string) => void) | undefined;

  constructor(send: (message: string) => void) {
    this.send = send;
  }

  receive(message: string): void {
    if (this.#onMessage === undefined) this.#early.push(message);
    else this.#onMessage(message);
  }

  listen(onMessage: (message: string) => void): void {
    this.#onMessage = onMessage;
    for (const message of this.#early) onMessage(message);
    this.#early = [];
  }
}

/** A debugger sends it when it has set its breakpoints, as with `node --inspect-wait`. */
const startMethod = "Runtime.runIfWaitingForDebugger";
/** Id of our own request. Debuggers count from 1. */
const ownId = 2 ** 30;

/** The session of a debugger in an isolate. */
export class DebugSession {
  readonly #session: ivm.InspectorSession;
  readonly #attached = Promise.withResolvers<void>();

  constructor(isolate: ivm.Isolate, context: ivm.Context, channel: DebugChannel) {
    this.#session = openSession(isolate, context);
    this.#session.onNotification = (message) => channel.send(message);
    this.#session.onResponse = (id, message) => {
      if (id !== ownId) channel.send(message);
    };
    channel.listen((message) => this.#receive(message));
  }

  /** Waits for the debugger, and has V8 pause at the first statement of the script. */
  async untilAttached(script: string): Promise<void> {
    await this.#attached.promise;
    this.#dispatch(JSON.stringify({ id: ownId, method: "Debugger.setBreakpointByUrl", params: { url: script, lineNumber: 0 } }));
  }

  end(): void {
    this.#attached.resolve();
    this.#session.dispose();
  }

  #receive(message: string): void {
    this.#dispatch(message);
    if (methodOf(message) === startMethod) this.#attached.resolve();
  }

  #dispatch(message: string): void {
    try {
      this.#session.dispatchProtocolMessage(message);
    } catch {
      // The session has ended: its isolate was disposed.
    }
  }
}

function methodOf(message: string): unknown {
  try {
    return (JSON.parse(message) as { readonly method?: unknown }).method; // Of any other value, it is undefined.
  } catch {
    return undefined; // V8 answers with what is wrong.
  }
}

/**
 * V8 checks that the thread which opens a session has entered the isolate, and ends the process if it has not. isolated-vm does not enter
 * it, so this does by a synchronous call.
 */
function openSession(isolate: ivm.Isolate, context: ivm.Context): ivm.InspectorSession {
  let session: ivm.InspectorSession | undefined;
  context.evalClosureSync("$0()", [new ivm.Callback(() => void (session = isolate.createInspectorSession()))]);
  if (session === undefined) throw new Error("V8's inspector has opened no session");
  return session;
}
