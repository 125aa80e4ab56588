import { sinceStart, timeOrigin } from "./clock.ts";
import { EventTarget } from "./events/event-target.ts";
import { tag } from "./define.ts";

const maxEntries = 1000;

class PerformanceEntry {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
  readonly detail: unknown;
  constructor(name: string, entryType: string, startTime: number, duration: number, detail: unknown) {
    this.name = name;
    this.entryType = entryType;
    this.startTime = startTime;
    this.duration = duration;
    this.detail = detail;
  }
  toJSON(): object {
    return {
      name: this.name,
      entryType: this.entryType,
      startTime: this.startTime,
      duration: this.duration,
      detail: this.detail,
    };
  }
}

interface MeasureOptions {
  readonly start?: string | number;
  readonly end?: string | number;
  readonly detail?: unknown;
}

/** Resolution of one millisecond, on purpose: a finer clock helps timing attacks. */
class Performance extends EventTarget {
  #entries: PerformanceEntry[] = [];

  get timeOrigin(): number {
    return timeOrigin;
  }
  now(): number {
    return sinceStart();
  }
  mark(name: string, options: { readonly detail?: unknown; readonly startTime?: number } = {}): PerformanceEntry {
    return this.#add(new PerformanceEntry(String(name), "mark", options.startTime ?? this.now(), 0, options.detail ?? null));
  }
  measure(name: string, start?: string | MeasureOptions, end?: string): PerformanceEntry {
    const options: MeasureOptions =
      typeof start === "object" && start !== null
        ? start
        : { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) };
    const from = this.#timeOf(options.start, 0);
    return this.#add(
      new PerformanceEntry(String(name), "measure", from, this.#timeOf(options.end, this.now()) - from, options.detail ?? null),
    );
  }
  getEntries(): PerformanceEntry[] {
    return [...this.#entries];
  }
  getEntriesByName(name: string, type?: string): PerformanceEntry[] {
    return this.#entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }
  getEntriesByType(type: string): PerformanceEntry[] {
    return this.#entries.filter((entry) => entry.entryType === type);
  }
  clearMarks(name?: string): void {
    this.#clear("mark", name);
  }
  clearMeasures(name?: string): void {
    this.#clear("measure", name);
  }
  toJSON(): object {
    return { timeOrigin };
  }

  #add(entry: PerformanceEntry): PerformanceEntry {
    this.#entries = [...this.#entries.slice(1 - maxEntries), entry];
    return entry;
  }
  #clear(type: string, name: string | undefined): void {
    this.#entries = this.#entries.filter((entry) => entry.entryType !== type || (name !== undefined && entry.name !== name));
  }
  #timeOf(point: string | number | undefined, otherwise: number): number {
    if (point === undefined) return otherwise;
    if (typeof point === "number") return point;
    const mark = this.getEntriesByName(point, "mark").at(-1);
    if (mark === undefined) throw new SyntaxError(`The "${point}" performance mark has not been set`);
    return mark.startTime;
  }
}

tag(Performance, "Performance");
export const performance = new Performance();
export { Performance, PerformanceEntry };
