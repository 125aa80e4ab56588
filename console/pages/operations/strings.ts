export const text = { title: "Operations" } as const;
