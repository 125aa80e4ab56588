import { current, installRelease, makeNamespace, namespace, previous, removeProbe, startProbe, report } from "./installation.ts";
import { tryKubectl } from "./kubectl.ts";

/**
 * The installation that all files are about: of today's version, or of the one that `previous-version.test.ts` begins with. `HEADWATER_TEST_KEEP=installation` leaves it to look at, and takes one that is
 * there.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const keeps = process.env["HEADWATER_TEST_KEEP"] === "installation";
  await makeNamespace(namespace);
  await startProbe();
  const isThere = (await tryKubectl(["-n", namespace, "get", "deployment", "headwater-api"])).code === 0;
  const ms = await installRelease(previous ?? current, keeps && isThere ? "upgrade" : "install");
  report(`helm install until everything is ready: ${(ms / 1_000).toFixed(1)} s`);
  return async () => {
    if (!keeps) await removeProbe();
  };
}
