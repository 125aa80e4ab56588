import type { Definition } from "../command.ts";
import { fieldLines } from "../output/fields.ts";

export const command: Definition = {
  description: "Shows who you are, your organizations, your quotas and how much of them is used.",
  examples: [{ command: "hw usage", does: "Show runs and compute time of today." }],
  operations: ["getMe"],
  run: async ({ client, out }) => {
    const answer = await client.call("getMe", {});
    await out.document(answer, () => fieldLines(answer.data));
  },
};
