import type { Metadata } from "../../crds/resource.ts";

/** Metadata of a new resource. */
export const metadata: Metadata = {
  name: "one",
  namespace: "shop",
  uid: "uid-1",
  resourceVersion: "1",
  generation: 1,
  creationTimestamp: "2026-11-21T12:00:00Z",
  finalizers: [],
  labels: {},
  annotations: {},
};
