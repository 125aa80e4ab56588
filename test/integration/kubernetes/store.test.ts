import { createKubernetesResourceStore } from "../../../platform/kubernetes/resources/resource-store.ts";
import { resourceStoreConformance } from "../../conformance/resource-store.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { withKubernetes } from "./support.ts";

const kube = await withKubeApi();
const kubernetes = withKubernetes(kube);

kube.describe("the resource store on Kubernetes", () => {
  resourceStoreConformance(async () => ({ store: createKubernetesResourceStore(kubernetes()), namespace: await kube.namespace() }));
});
