import {
  current,
  installRelease,
  isInstalled,
  makeNamespace,
  namespace,
  previous,
  removeProbe,
  startProbe,
  report,
} from "./installation.ts";

/**
 * Installs the current version, or the previous one if it is set. `HEADWATER_TEST_KEEP=installation` keeps the installation after the
 * tests, and upgrades an existing one.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const keeps = process.env["HEADWATER_TEST_KEEP"] === "installation";
  await makeNamespace(namespace);
  await startProbe();
  const ms = await installRelease(previous ?? current, keeps && (await isInstalled()) ? "upgrade" : "install");
  report(`helm install until everything is ready: ${(ms / 1_000).toFixed(1)} s`);
  return async () => {
    if (!keeps) await removeProbe();
  };
}
