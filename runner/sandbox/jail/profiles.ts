import type { JailProfile } from "./rules.ts";

/** Descriptor of the child's end of the socket on which both send frames. */
export const channelDescriptor = 3;
/** Of the one on which the parent passes connected sockets. */
export const descriptorsDescriptor = 4;

/** What connections need besides: names of hosts. */
export const networkFiles = "/etc/hosts /etc/host.conf /etc/nsswitch.conf /etc/resolv.conf /etc/gai.conf /etc/services".split(" ");

/** Of sandbox processes. */
export const sandboxProfile: JailProfile = {
  kind: "sandbox",
  tcpPorts: [],
  descriptors: [channelDescriptor, descriptorsDescriptor],
  environment: ["UV_THREADPOOL_SIZE"],
  limits: { descriptors: 4_096, fileBytes: 0, threads: 512 },
};

/** Of npm's libraries, with the ports of their registries and the variables for them. */
export const installProfile: JailProfile = {
  kind: "install",
  tcpPorts: [],
  descriptors: [3],
  environment: [],
  limits: { descriptors: 1_024, fileBytes: 2 ** 30, threads: 256 },
};

/** Of esbuild, which writes no files. */
export const bundleProfile: JailProfile = {
  kind: "bundle",
  tcpPorts: [],
  descriptors: [],
  environment: [],
  limits: { descriptors: 1_024, fileBytes: 0, threads: 256 },
};
