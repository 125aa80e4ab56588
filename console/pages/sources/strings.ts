export const text = { title: "Sources" } as const;
