export const text = { title: "Source" } as const;
