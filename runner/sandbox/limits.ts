import { maxStreamedBytes } from "../../domain/run-products.ts";

/** How long code may compute, ms. A sandbox may have others: tests run beside programs that take most of a core from it. */
export interface TimeLimits {
  /** One uninterrupted stretch of computing. */
  readonly entryMs: number;
  /** Evaluating a bundle: compiling and running its top level. */
  readonly loadMs: number;
  /** CPU time of one run. */
  readonly cpuMs: number;
  /** How long an isolate may compute after it was disposed, before its process must end. */
  readonly disposeMs: number;
}

export const timeLimits: TimeLimits = { entryMs: 5_000, loadMs: 10_000, cpuMs: 10_000, disposeMs: 1_000 };

/** Limits that a run meets whatever its configuration; sizes in bytes, times in ms. The guest knows the ones it can state early. */
export const limits = {
  /** How long requests begun at the top level of a module may go on when it is loaded. */
  loadCallsMs: 3_000,
  bridgeMessages: 100_000,
  bridgeBytes: 64 * 1024 * 1024,
  syncCalls: 20_000,
  /** `Promise.all` over a thousand addresses is what people write; a few run at once, the others wait. The guest refuses more than 2,000; its count may be behind by the answers of one entry. */
  callsInFlight: 2_200,
  emits: 10_000,
  emitBytes: 1024 * 1024,
  /** Events and logs of a run as they are stored: they leave in one message of at most 8 MB. */
  productBytes: 6 * 1024 * 1024,
  /** What an event or a line of the log takes beside its texts. */
  recordBytes: 250,
  emitIdCharacters: 64 * 1024,
  /** Of a channel. */
  nameCharacters: 1024,
  summaryCharacters: 4096,
  logLines: 10_000,
  logLineCharacters: 16 * 1024,
  /** Keys and values of all db props together. */
  dbBytes: 60 * 1024,
  responseBytes: 4 * 1024 * 1024,
  /** Of a body that is given to `respond` as a stream. */
  streamedBytes: maxStreamedBytes,
  resultCharacters: 64 * 1024,
  /** Of one export or the returned value of an action: a later step may need it, so it is never dropped. */
  actionResultCharacters: 4 * 1024 * 1024,
  exports: 1_000,
  /** Of a step, and of all steps of a run. */
  sends: 10_000,
  /** Of `sends`, the mails. */
  emails: 100,
  /** Of an argument of `$.send`: an event, and its id, name and summary, as JSON. */
  sendCharacters: 1024 * 1024 + 512 * 1024,
  descriptionCharacters: 1024 * 1024,
  /** Entries into isolates of one child at once; each occupies a thread. */
  entriesAtOnce: 16,
  /** Of one owner among others: its sources are in half of the children, and what more threads take is taken from others. */
  entriesOfOwner: 1,
  /** Of an owner who is alone: more answers go to the parent together. */
  entriesOfLoneOwner: 8,
  /** Executions of one child at once; the rest wait. Each holds an isolate of 8 MB or more, and a child above 2 GB is killed with everything in it. */
  executionsAtOnce: 200,
  /** Of one owner beside others, and without: runs that wait for minutes must leave slots to an owner that comes later. */
  executionsOfOwner: 100,
  executionsOfLoneOwner: 150,
  /** Contexts of one isolate: of each, as little as a quarter of a megabyte is its own. */
  contextsPerIsolate: 64,
  runsPerContext: 1_000,
  /** When a spare isolate or context has been used, after this time another one is created. */
  refillAfterMs: 5,
  /** How long an isolate keeps a spare context after a source was added to it. */
  spareMs: 30_000,
  idleMs: 10 * 60_000,
  /** How long an isolate is at rest before what its runs left behind is collected: others run in the meantime, and it may soon run again. */
  collectAfterMs: 1_000,
  /** A larger heap is not collected so: that takes time in proportion, and a hostile one would take it every time. */
  collectedBytes: 64 * 1024 * 1024,
} as const;
