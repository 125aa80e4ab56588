import { afterAll, beforeAll, expect } from "vitest";
import { accountKind, type AccountResource } from "../../../crds/account.ts";
import { holderOf } from "../../../crds/secret-values.ts";
import { Conflict } from "../../../domain/errors.ts";
import { namespaceOfOwner } from "../../../domain/ids.ts";
import { accountReconciler } from "../../../operator/account/reconciler.ts";
import { keyOf } from "../../../operator/controller/informer.ts";
import type { OperatorPorts } from "../../../operator/ports.ts";
import { TokenFamilies } from "../../support/token-families.ts";
import { owner, withOperatorWorld } from "./world.ts";

const namespace = namespaceOfOwner(owner);
const hourMs = 3_600_000;
/** After it, the claim of an operator that has ended no longer counts. */
const claimEndsMs = 61_000;

/** A controller repeats a pass at once if another operator has changed the account in the meantime. */
async function untilWritten(operate: () => Promise<unknown>): Promise<void> {
  try {
    await operate();
  } catch (error) {
    if (!(error instanceof Conflict)) throw error;
    await untilWritten(operate);
  }
}

/** Accounts at a service that rotates refresh tokens, and operators with a clock of the test. For the file that calls this at its top level. */
export function withRefreshWorld() {
  const world = withOperatorWorld({ egressAllow: ["127.0.0.0/8"] });
  const service = new TokenFamilies();
  const time = { now: Date.parse("2026-11-21T12:00:00Z") };
  beforeAll(async () => void (await service.start()));
  afterAll(() => service.stop());

  const create = async (family: string, options?: { readonly rotates: boolean }): Promise<AccountResource> => {
    const refreshToken = { sealed: await world.ports.secrets.seal(service.grant(family, options)) };
    return world.ports.store.create(accountKind, {
      namespace,
      name: `apn-${family}`,
      spec: { app: "shop", credentials: {}, oauth: { tokenUrl: service.tokenUrl, clientId: "client", refreshToken } },
    });
  };
  const now = ({ metadata }: AccountResource) => world.ports.store.get(accountKind, namespace, metadata.name);
  /** Another operator: it remembers nothing of the others. */
  const operator = (ports: OperatorPorts = world.ports) => {
    const reconcile = accountReconciler({ ...ports, clock: { now: () => time.now }, random: () => 0 });
    return (account: AccountResource) => reconcile(keyOf(account));
  };
  return {
    service,
    get ports() {
      return world.ports;
    },
    create,
    now,
    operator,
    pass: (ms: number) => void (time.now += ms),
    claimEndsMs,
    /** The refresh token that the account has now. */
    stored: async (account: AccountResource): Promise<string | undefined> => {
      const { spec, status } = await now(account);
      const reference = status.oauth?.refreshToken ?? spec.oauth?.refreshToken;
      return reference === undefined ? undefined : world.ports.secretValues.read(holderOf(accountKind, account), reference);
    },
    /** Two operators want to refresh each account at the same time, again and again. @returns accounts whose tokens were lost */
    race: async ({ accounts, rounds }: { readonly accounts: number; readonly rounds: number }): Promise<readonly string[]> => {
      const all = await Promise.all(Array.from({ length: accounts }, (_, index) => create(`race${index}`)));
      const operators = [operator(), operator()];
      for (let round = 1; round <= rounds; round++) {
        await Promise.all(all.flatMap((account) => operators.map((operate) => untilWritten(() => operate(account)))));
        for (const [index] of all.entries()) expect(service.refreshed.get(`race${index}`) ?? 0).toBeLessThanOrEqual(round);
        time.now += hourMs;
      }
      for (const [index, account] of all.entries()) {
        expect(service.refreshed.get(`race${index}`)).toBeGreaterThanOrEqual(rounds);
        const { status } = await now(account);
        expect(status.needsReconnect).toBeUndefined();
      }
      return service.voided;
    },
  };
}
