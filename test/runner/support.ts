import type { Deployment } from "../../domain/source/deployment.ts";

/** A source of no component in particular. */
export const deployment: Deployment = {
  source: "dc_1",
  owner: "u_1",
  pool: "default",
  name: "s",
  id: "d_1",
  generation: 3,
  active: true,
  bundle: "b",
  needsNode: false,
  props: {},
  secrets: null,
  dedupe: null,
  hooks: [],
  endpoint: null,
};
