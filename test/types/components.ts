import { type ActionFile, defineAction, defineApp, defineSource, type EmitMetadata } from "headwater/types";

/** Components that compile, and, under `@ts-expect-error`, mistakes that do not. Checked by tsc, never run. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <_ extends true>(): void => undefined;

const shop = defineApp({
  type: "app",
  app: "shop",
  propDefinitions: {
    product: {
      type: "string",
      label: "Product",
      async options({ page, query }) {
        const { items }: { items: { id: string; title: string }[] } = await this.list(page, query);
        return { options: items.map((item) => ({ label: item.title, value: item.id })), context: { next: page + 1 } };
      },
    },
    quantity: { type: "integer", optional: true, min: 1 },
  },
  methods: {
    token(): string {
      return this.$auth["oauth_access_token"] ?? "";
    },
    async list(page: number, query: string): Promise<{ items: { id: string; title: string }[] }> {
      return { items: [{ id: `${this.token()} ${page}`, title: query }] };
    },
  },
});

export const everything = defineSource({
  name: "Everything",
  key: "everything",
  version: "1.0.0",
  type: "source",
  dedupe: "unique",
  props: {
    db: "$.service.db",
    http: { type: "$.interface.http", customResponse: true },
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
    shop,
    text: { type: "string", label: "Text", description: "Any", options: ["a", { label: "B", value: "b" }] },
    note: { type: "string", optional: true },
    secret: { type: "string", secret: true },
    count: { type: "integer", min: 1, max: 5, default: 2 },
    maybeCount: { type: "integer", optional: true, default: 1 },
    flag: "boolean",
    list: "string[]",
    file: "file",
    maybeFile: { type: "file", label: "File", optional: true },
    files: "file[]",
    fields: { type: "object" },
    anything: "any",
    chosen: { type: "string", withLabel: true },
    product: { propDefinition: [shop, "product"] },
    quantity: { propDefinition: [shop, "quantity"] },
    needed: { propDefinition: [shop, "quantity"], optional: false, label: "Needed" },
    dynamic: {
      type: "string",
      reloadProps: true,
      async options({ page, prevContext }) {
        return this.text === "" ? [] : [`${page} ${String(prevContext)}`];
      },
    },
  },
  methods: {
    key(id: number): string {
      return `${this.text}-${id.toFixed(0)}`;
    },
    remember(id: number): void {
      this.db.set(this.key(id), { id });
      this.$emit({ id }, { id, summary: this.key(id) });
    },
  },
  hooks: {
    async deploy() {
      this.remember(this.count);
    },
    deactivate() {
      this.db.set("x", undefined);
    },
  },
  async additionalProps(previous) {
    return this.flag ? { more: { type: "string" } } : previous;
  },
  async run(event) {
    is<Same<typeof this.text, string>>();
    is<Same<typeof this.note, string | undefined>>();
    is<Same<typeof this.secret, string>>();
    is<Same<typeof this.count, number>>();
    is<Same<typeof this.maybeCount, number>>();
    is<Same<typeof this.flag, boolean>>();
    is<Same<typeof this.list, readonly string[]>>();
    is<Same<typeof this.file, ActionFile>>();
    is<Same<typeof this.maybeFile, ActionFile | undefined>>();
    is<Same<typeof this.files, readonly ActionFile[]>>();
    is<Same<typeof this.anything, unknown>>();
    is<Same<typeof this.chosen, { readonly label: string; readonly value: string }>>();
    is<Same<typeof this.product, string>>();
    is<Same<typeof this.quantity, number | undefined>>();
    is<Same<typeof this.needed, number>>();
    is<Same<ReturnType<typeof this.shop.token>, string>>();
    const metadata: EmitMetadata = { id: this.count, name: "channel", ts: Date.now() };
    if ("timestamp" in event) return this.$emit({ at: event.timestamp, seconds: event.interval_seconds }, metadata);
    this.http.respond({ status: 200, headers: { "x-path": event.path }, body: { got: event.body, at: this.http.endpoint } });
    const { items } = await this.shop.list(1, this.fields["q"] === undefined ? "" : this.key(1));
    for (const item of items) this.$emit(item, { id: item.id });
    this.remember(Number(this.db.get("n") ?? 0));
  },
});

export const smallest = defineSource({
  name: "Smallest",
  run(event) {
    is<Same<typeof event, unknown>>();
    this.$emit(event);
  },
});

export const ticking = defineSource({
  name: "Ticking",
  props: { timer: { type: "$.interface.timer", default: { cron: "0 9 * * *", timezone: "Europe/Berlin" } } },
  run({ timestamp }) {
    is<Same<typeof timestamp, number>>();
  },
});

export const step = defineAction({
  name: "Step",
  type: "action",
  version: "0.0.1",
  props: { text: "string", shop },
  async run({ $, steps }) {
    $.export("$summary", `${this.text} ${Object.keys(steps).length} ${this.shop.$auth["x"]}`);
    return this.text.length;
  },
});

export const flow = defineAction({
  name: "Flow",
  type: "action",
  async run({ $, steps }) {
    const { resume_url: url } = $.flow.suspend(60_000);
    is<Same<typeof url, string>>();
    $.export("page", steps["trigger"].event.page);
    await $.respond({ status: 202, body: { url }, immediate: true });
    $.send.http({ method: "POST", url, data: { a: 1 } });
    $.send.emit({ raw_event: 1, name: "orders" });
    $.send.emit("text");
    $.send.sse({ channel: "c", payload: null });
    if ($.context.run.runs < 3) $.flow.rerun(1_000, { page: 2 }, 5);
    // @ts-expect-error A time is a number.
    $.flow.delay("soon");
    // @ts-expect-error A mail has a subject.
    $.send.email({ text: "x" });
    // @ts-expect-error A summary is a text.
    $.export("$summary", 5);
    for await (const file of $.files.dir()) await file.toFile(`/tmp/${file.name}`);
    return $.flow.exit("done");
  },
});

// @ts-expect-error A name is required.
defineSource({ run() {} });
// @ts-expect-error So is run.
defineSource({ name: "x" });
// @ts-expect-error There is no such strategy.
defineSource({ name: "x", dedupe: "uniq", run() {} });
// @ts-expect-error There is no such type.
defineSource({ name: "x", props: { a: "strng" }, run() {} });
// @ts-expect-error There is no such type.
defineSource({ name: "x", props: { a: { type: "number" } }, run() {} });
// @ts-expect-error Only strings are secret.
defineSource({ name: "x", props: { a: { type: "integer", secret: true } }, run() {} });
// @ts-expect-error Only integers have bounds.
defineSource({ name: "x", props: { a: { type: "string", min: 1 } }, run() {} });
// @ts-expect-error A timer has an interval or a cron expression.
defineSource({ name: "x", props: { t: { type: "$.interface.timer", default: { seconds: 5 } } }, run() {} });
// @ts-expect-error Fields with a mistake in their name are found.
defineSource({ name: "x", hook: {}, run() {} });
// @ts-expect-error An action says so.
defineAction({ name: "x", run() {} });
// @ts-expect-error An app has a slug.
defineApp({ type: "app" });

defineSource({
  name: "Mistakes",
  props: { n: "integer", text: { type: "string", optional: true }, db: "$.service.db", http: "$.interface.http", shop },
  methods: {
    twice() {
      return this.n * 2;
    },
  },
  run(event) {
    // @ts-expect-error An integer is a number.
    this.n.trim();
    // @ts-expect-error What is optional may be absent.
    this.text.trim();
    // @ts-expect-error There is no such prop.
    void this.other;
    // @ts-expect-error A database has get and set.
    this.db.delete("x");
    // @ts-expect-error A status is a number.
    void this.http.respond({ status: "ok" });
    // @ts-expect-error The app has no such method.
    this.shop.missing();
    // @ts-expect-error `ts` is epoch milliseconds.
    this.$emit({}, { ts: "now" });
    // @ts-expect-error A request has no timestamp.
    void event.timestamp;
    const twice: number = this.twice();
    // @ts-expect-error Props are read-only in a component.
    this.n = twice;
  },
});
