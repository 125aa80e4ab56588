import { expect, test } from "vitest";
import { Following } from "../../../api/resources/watch/following.ts";
import { ResourceWatch } from "../../../api/resources/watch/resource-watch.ts";
import { untilCreated } from "../../../api/resources/watch/until-created.ts";
import { webhookKind, type WebhookSpec, type WebhookStatus } from "../../../crds/webhook.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import { Gone } from "../../../domain/errors.ts";
import { withApi } from "./support.ts";

const api = withApi();
const spec = { url: "https://x.test", active: true, signingKeys: [] };

test("notifies waiting requests of changes during a broken watch", async () => {
  let watches = 0;
  // The first watch breaks without a report; only a read can show what it missed.
  const store: ResourceStore = Object.assign(Object.create(api.store), api.store, {
    watch: (...given: Parameters<ResourceStore["watch"]>) => {
      if (++watches > 1) return api.store.watch(...given);
      return { [Symbol.asyncIterator]: () => ({ next: breakOff }) };
    },
  });
  const breakOff = async (): Promise<never> => {
    await api.store.create(webhookKind, { name: "wh-missed", namespace: "hw-u-ada", spec });
    throw new Gone("too old");
  };
  const warnings: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void warnings.push(fields), error: () => undefined };
  const watch = new ResourceWatch(store, webhookKind, log);
  const following = watch.follow("hw-u-ada", "wh-missed");
  await watch.start();
  const seen = await following.until((resource) => resource?.spec.url, AbortSignal.timeout(120_000));
  expect([seen, warnings.length]).toEqual(["https://x.test", 1]);

  await api.store.delete(webhookKind, "hw-u-ada", "wh-missed");
  expect(await following.until((resource) => resource === undefined || undefined, AbortSignal.timeout(120_000))).toBe(true);
  following.end();
  await watch.stop();
});

test("ends a wait without a change when the signal aborts", async () => {
  const watch = new ResourceWatch(api.store, webhookKind, {
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  });
  await watch.start();
  const following = watch.follow("hw-u-ada", "wh-none");
  expect(await following.until(() => true, AbortSignal.timeout(20))).toBeUndefined();
  following.end();
  await watch.stop();
});

test("waiting for a new resource ignores the deletion of an earlier one with the same name", async () => {
  const place = { namespace: "hw-u-ada", name: "wh-again" };
  const created = await api.store.create(webhookKind, { ...place, spec });
  const following = new Following<WebhookSpec, WebhookStatus>(place, () => undefined);
  following.notify(undefined); // The watch lags: this is the earlier one.
  const waiting = untilCreated(
    { kind: webhookKind, created, store: api.store },
    following,
    (seen) => (seen.metadata.uid === created.metadata.uid ? seen.spec.url : undefined),
    AbortSignal.timeout(120_000),
  );
  await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve))]);
  following.notify(created);
  expect(await waiting).toBe(spec.url);

  await api.store.delete(webhookKind, place.namespace, place.name);
  following.notify(undefined);
  const ended = untilCreated({ kind: webhookKind, created, store: api.store }, following, () => undefined, AbortSignal.timeout(120_000));
  await expect(ended).rejects.toThrow("the webhook was deleted in the meantime");
});
