import { expect, it } from "vitest";
import { podSettings } from "../../../operator/runner-pool/objects/pod-settings.ts";

it("the settings of runner pods require the namespace, the image and the address of NATS", () => {
  const { error } = podSettings.safeParse({});
  expect(error?.issues.map(({ path }) => path.join("."))).toEqual(["namespace", "image", "nats"]);
});
