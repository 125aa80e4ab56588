import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { until } from "../support/until.ts";
import { chart } from "../support/helm.ts";
import {
  type Endpoint,
  install,
  isInstalled,
  makeNamespace,
  namespace,
  removeInstallation,
  report,
  startProbe,
  state,
} from "./installation.ts";
import { get, isReady, list } from "./kubectl.ts";
import { countingSources, expectNothingLost, startLoad } from "./load.ts";
import { nodeShell, onNode } from "./node-shell.ts";

const perSecond = 30;
const lostForSeconds = 45;
const allowedPauseMs = 30_000;
const natsServers = 3;

/**
 * An installation with values-ha.yaml. The node of the tests stands for three: the loss of one is the loss of one pod of each kind. Their
 * network drops every packet, without closing a connection. The kubelet and the controller manager are suspended, so that no probe fails
 * and no endpoint is removed: as on a real cluster in the first 40 s.
 */
const skipped = nodeShell === undefined ? " (skipped: HEADWATER_TEST_NODE_SHELL names no command)" : "";
(skipped === "" ? describe : describe.skip)(`the loss of a node${skipped}`, () => {
  let sources: readonly Endpoint[] = [];

  beforeAll(async () => {
    // An installation keeps its number of NATS servers, so this one needs a new installation.
    if (await isInstalled()) await removeInstallation();
    await makeNamespace(namespace);
    await startProbe();
    // All pods run on one node: with `required`, two of the three NATS servers would wait for others.
    const onOneNode = ["--set", "postgres.enabled=true,spread=preferred"];
    const duration = await install("install", "--values", join(chart, "values-ha.yaml"), ...onOneNode);
    report(`install with values-ha.yaml: ${Math.round(duration / 1_000)} s`);
    await until(async () => (await podsOf("runner")).filter(isReady).length === 2, "two runners are ready");
    sources = await countingSources("lost", 6);
  });

  it.each([...Array(natsServers).keys()])("loses no accepted request, and deliveries go on, with NATS server %i on it", async (server) => {
    const load = await startLoad(sources, perSecond);
    await load.more(perSecond * 5);
    const lost = await podsOfANode(server);
    await cutOff(lost, lostForSeconds).catch(async (error: unknown) => {
      await load.stop();
      throw new Error(`${String(error)}\n${await state()}`);
    });
    await load.more(perSecond * 5);
    const stopped = await load.stop();
    report(
      `a node with NATS server ${server} lost for ${lostForSeconds} s: ${stopped.sent} sent, not accepted ${JSON.stringify(stopped.refused)}, ` +
        `longest pause of the deliveries of each source ${stopped.pausesMs.map((ms) => `${(ms / 1_000).toFixed(1)} s`).join(", ")}`,
    );
    expect(Math.max(...stopped.pausesMs)).toBeLessThan(allowedPauseMs);
    await expectNothingLost(stopped);
    await until(async () => (await list("pods", "-n", namespace)).filter(isRunning).every(isReady), "everything runs again");
  });
});

const podsOf = (component: string) => list("pods", "-n", namespace, "-l", `app.kubernetes.io/component=${component}`);
const isRunning = ({ status }: { readonly status?: Readonly<Record<string, unknown>> | undefined }): boolean =>
  status?.["phase"] === "Running";

/** Names of one pod of each kind: this NATS server, the operator that leads, and the first of each other role. */
async function podsOfANode(server: number): Promise<readonly string[]> {
  const firsts = await Promise.all(["api", "ingress", "delivery", "builder", "runner"].map(async (role) => (await podsOf(role))[0]));
  const lease = await get("lease", "headwater-operator", namespace);
  const holder = String((lease["spec"] as Record<string, unknown>)["holderIdentity"]); // A Lease has a spec.
  return [`headwater-nats-${server}`, holder.split("_")[0] ?? "", ...firsts.map((pod) => pod?.metadata.name ?? "")];
}

/** Takes pods off the network for that time, while nothing in the control plane notices. */
async function cutOff(pods: readonly string[], seconds: number): Promise<void> {
  const addresses = await Promise.all(pods.map(async (pod) => String((await get("pod", pod, namespace)).status?.["podIP"])));
  const inTheirNetworks = (command: string): string => `
    for net in /var/run/netns/*; do
      address=$(nsenter --net=$net ip -4 -o addr show eth0 2>/dev/null | sed 's/.*inet \\([0-9.]*\\).*/\\1/')
      case " ${addresses.join(" ")} " in *" $address "*) ${command};; esac
    done`;
  const drop = (action: string): string =>
    ["INPUT ! -i lo", "OUTPUT ! -o lo"].map((packets) => `nsenter --net=$net iptables ${action} ${packets} -j DROP`).join("; ");
  const suspend = (signal: string): string => `kill -${signal} $(pidof kubelet) $(pidof kube-controller-manager)`;
  // Also if the shell ends early, the node is usable again.
  const script = `
    restore() { ${inTheirNetworks(drop("-D"))}; ${suspend("CONT")}; }
    trap restore EXIT
    trap 'exit 1' HUP INT TERM
    ${suspend("STOP")}
    ${inTheirNetworks(drop("-A"))}
    sleep ${seconds}`;
  await onNode(script, (seconds + 120) * 1_000);
}
