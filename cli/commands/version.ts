import type { Definition } from "../command.ts";
import own from "../package.json" with { type: "json" };

export const command: Definition = {
  examples: [{ command: "hw version", does: "Show the version of this program." }],
  operations: [],
  isOffline: true,
  run: async ({ out }) => {
    await out.document({ version: own.version }, () => [own.version]);
  },
};
