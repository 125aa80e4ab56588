import { defineSource } from "headwater/types";
import { decodeText, fetchIfChanged, type Validators } from "../shared/conditional-fetch.ts";
import { capacity, Seen } from "../shared/seen.ts";
import { parseFeed, type Entry, type Feed } from "./feed.ts";

/** As many as one run may emit. */
const maxAtOnce = 1_000;

export default defineSource({
  name: "New Item in Feed",
  key: "headwater-rss",
  version: "1.0.0",
  type: "source",
  description: "Emits each new item of an RSS, Atom or JSON feed once",
  annotations: { released: "2026-11-21" },
  props: {
    db: "$.service.db",
    timer: {
      type: "$.interface.timer",
      label: "Interval",
      description: "How often the feed is asked for",
      default: { intervalSeconds: 900 },
    },
    url: { type: "string", label: "Feed URL", description: "Address of an RSS, Atom or JSON feed" },
    firstRun: {
      type: "string",
      label: "Items That Are There Already",
      description: "Which items of the first fetch are emitted. All are remembered.",
      options: [
        { label: "The newest few", value: "newest" },
        { label: "None", value: "none" },
        { label: "All, 1,000 at most", value: "all" },
      ],
      default: "newest",
    },
    firstItems: {
      type: "integer",
      label: "How Many",
      description: "So many of them, when it is the newest few",
      min: 1,
      max: 100,
      default: 5,
    },
  },
  hooks: {
    // Creating the source fails if the address is invalid or no feed.
    async deploy() {
      await this.poll();
    },
  },
  methods: {
    async poll(): Promise<void> {
      const validators: Validators | undefined = this.db.get("validators");
      const fetched = await fetchIfChanged(this.url, {
        validators,
        headers: { accept: "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5" },
      });
      if (!fetched.changed) return;
      const feed = parseFeed(decodeText(fetched.bytes, fetched.type), this.url);
      // Of another address nothing was seen before.
      const isFirst = validators?.url !== this.url;
      const seen = new Seen(isFirst ? [] : this.db.get("seen"));
      const entries = [...new Map(feed.entries.map((entry) => [entry.id, entry])).values()];
      if (entries.length > capacity) throw new Error(`${this.url} has ${entries.length} items; at most ${capacity} can be remembered`);
      const fresh = entries.filter(({ id }) => !seen.has(id));
      // The oldest first, also where they have no dates: feeds begin with the newest.
      for (const entry of (isFirst ? this.ofFirstRun(fresh) : fresh).toReversed()) this.emitEntry(entry, feed);
      for (const { id } of entries.toReversed()) seen.add(id);
      this.db.set("seen", seen.marks);
      this.db.set("validators", fetched.validators);
    },
    ofFirstRun(entries: readonly Entry[]): readonly Entry[] {
      if (this.firstRun === "none") return [];
      return entries.slice(0, this.firstRun === "all" ? maxAtOnce : this.firstItems);
    },
    emitEntry(entry: Entry, feed: Feed): void {
      this.$emit(
        { ...entry, feed: { title: feed.title, url: this.url } },
        { id: entry.id, summary: entry.title, ts: entry.published === null ? undefined : Date.parse(entry.published) },
      );
    },
  },
  async run() {
    await this.poll();
  },
});
