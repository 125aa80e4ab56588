import { beforeAll, describe } from "vitest";
import { findProgram } from "../support/helm.ts";
import { withKubeApi } from "../support/kube/kube-api.ts";
import { describeAttacks } from "./api-server/attacks.ts";
import { describeProtectedLabels } from "./api-server/protected-labels.ts";
import { describeRights } from "./api-server/rights.ts";
import { describeRunnerPods } from "./api-server/runner-pods.ts";
import { applyChart } from "./as-account.ts";

/** One real API server has the chart's objects. The last suite replaces the policies, and the attacks create RoleBindings: the order counts. */
const kube = await withKubeApi({ own: true, crds: false });
const missing = kube.missing ?? (findProgram("helm") === undefined ? "helm was not found below KUBEBUILDER_ASSETS or on PATH" : undefined);

describe.skipIf(missing !== undefined)(`on an API server${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
  beforeAll(() => applyChart(kube));
  describeRights(kube);
  describeProtectedLabels(kube);
  describeAttacks(kube);
  describeRunnerPods(kube);
});
