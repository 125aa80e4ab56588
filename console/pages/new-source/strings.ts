export const text = { title: "New source" } as const;
