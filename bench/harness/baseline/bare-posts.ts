import { Agent } from "undici";
import { orders, reply } from "../child.ts";

/** The baseline of deliveries: requests by undici alone, so many under way at once, of the same size to the same endpoints, unsigned. */
const { urls, perUrl, bytes, durationMs } = await orders<{
  readonly urls: readonly string[];
  readonly perUrl: number;
  readonly bytes: number;
  readonly durationMs: number;
}>();
const agent = new Agent({ connections: perUrl });
const frame = JSON.stringify({ id: "", pad: "" }).length;
const body = JSON.stringify({ id: "", pad: "x".repeat(Math.max(0, bytes - frame)) });
let [answered, isOver] = [0, false];

async function loop(url: string): Promise<void> {
  const { origin, pathname: path } = new URL(url);
  while (!isOver) {
    const { body: rest } = await agent.request({ origin, path, method: "POST", headers: { "content-type": "application/json" }, body });
    await rest.dump();
    answered++;
  }
}

const startedAt = performance.now();
setTimeout(() => (isOver = true), durationMs);
await Promise.all(urls.flatMap((url) => Array.from({ length: perUrl }, () => loop(url))));
reply({ perSecond: (answered / (performance.now() - startedAt)) * 1_000 });
await agent.close();
