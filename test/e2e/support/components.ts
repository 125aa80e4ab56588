/** Counts its runs in the db. The request's body may set the duration of the run. */
export const counter = `
export default {
  name: "Counter",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run({ body }) {
    await new Promise((resolve) => setTimeout(resolve, body?.takesMs ?? 0));
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: body?.request });
  },
};`;

/** Emits a number with each tick. A prop sets the duration of the run. */
export const ticker = `
export default {
  name: "Ticker",
  props: { timer: "$.interface.timer", db: "$.service.db", takesMs: { type: "integer", default: 0 } },
  async run({ timestamp }) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    await new Promise((resolve) => setTimeout(resolve, this.takesMs));
    this.$emit({ n, timestamp });
  },
};`;

/** Requests the URL of its event and emits once it has the response. */
export const waiter = `
export default {
  name: "Waiter",
  props: { http: "$.interface.http", db: "$.service.db" },
  async run({ body }) {
    await fetch(body.url);
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: body.request });
  },
};`;
