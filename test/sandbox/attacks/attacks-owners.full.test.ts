import { describe, expect, it } from "vitest";
import { sandboxPids } from "../processes.ts";
import { ended } from "../sandbox-fixture.ts";
import { openOwnerRuns } from "./owner-runs.ts";

const { ran, counts } = openOwnerRuns();

describe("a process for each owner", () => {
  it("is started in turn for more owners than there are slots", async () => {
    const runs = Array.from({ length: 10 }, (_, index) => ran(`u_many${index % 5}`, `dc_many${index}`, "50"));
    expect(await counts(runs)).toEqual(Array.from({ length: 10 }, () => "1"));
    expect(sandboxPids().length).toBeLessThanOrEqual(6);
  });

  it("is not kept by an owner with endless runs", async () => {
    let stop = false;
    const busy = async (owner: string): Promise<void> => {
      for (let run = 0; !stop; run++) await ran(owner, `dc_${owner}${run % 3}`, "20");
    };
    const flood = ["u_f1", "u_f1", "u_f1", "u_f2", "u_f2", "u_f2"].map(busy);
    await ran("u_f1", "dc_first");
    const patient = await ran("u_patient", "dc_patient");
    stop = true;
    await Promise.all(flood);
    expect(ended(patient)).toMatchObject({ outcome: "returned", result: "1" });
  });
});
