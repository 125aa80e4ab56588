import type { V1NetworkPolicyPort, V1NetworkPolicySpec } from "@kubernetes/client-node";
import type { Plain } from "./objects.ts";
import type { NetworkPeer, PodSettings } from "./pod-settings.ts";

/** Networks that are nobody's public address (IANA's special-purpose registries), so that the rest is the internet. */
const notInternet = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** 2000::/3 is all of IPv6 that is given out; Teredo and 6to4 within it lead to IPv4 addresses of any kind. */
const internet6 = "2000::/3";
const notInternet6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/**
 * Nobody reaches a runner (the kubelet's probes come from the pod's own node, which policies never bar). A runner reaches NATS,
 * names, the collector of traces, and the public internet; what else its pool allows. The egress policy within the runner says the same once more:
 * this one also holds for code that has broken out of it.
 */
export function networkPolicySpec(
  settings: PodSettings,
  matchLabels: Readonly<Record<string, string>>,
  egressAllow: readonly string[],
): Plain<V1NetworkPolicySpec> {
  // A plug-in of the network that knows IPv4 alone may refuse a policy that names the other kind, and then enforce none.
  const allowed = [...settings.egressAllow, ...egressAllow].filter((cidr) => settings.ipv6 || !isV6(cidr));
  return {
    podSelector: { matchLabels },
    policyTypes: ["Ingress", "Egress"],
    ingress: settings.scrapedBy.length === 0 ? [] : [{ from: settings.scrapedBy, ports: [tcp(settings.healthPort)] }],
    egress: [
      { to: settings.nats.peers, ports: settings.nats.ports.map(tcp) },
      ...(settings.dns.length === 0 ? [] : [{ to: settings.dns, ports: [{ protocol: "UDP", port: 53 }, tcp(53)] }]),
      ...(settings.collector.peers.length === 0 ? [] : [{ to: settings.collector.peers, ports: settings.collector.ports.map(tcp) }]),
      { to: [...internet(settings), ...allowed.map((cidr): NetworkPeer => ({ ipBlock: { cidr } }))] },
    ],
  };
}

function internet({ blockedCidrs, ipv6 }: PodSettings): readonly NetworkPeer[] {
  const block = (cidr: string, except: readonly string[]): NetworkPeer => ({ ipBlock: { cidr, except: [...new Set(except)] } });
  const v4 = block("0.0.0.0/0", [...notInternet, ...blockedCidrs.filter((cidr) => !isV6(cidr))]);
  if (!ipv6) return [v4];
  // Whatever lies outside 2000::/3 is not reachable anyhow, and an exception must lie within.
  return [v4, block(internet6, [...notInternet6, ...blockedCidrs.filter((cidr) => /^[23][0-9a-f]{3}:/i.test(cidr))])];
}

const isV6 = (cidr: string): boolean => cidr.includes(":");

const tcp = (port: number): Plain<V1NetworkPolicyPort> => ({ protocol: "TCP", port });
