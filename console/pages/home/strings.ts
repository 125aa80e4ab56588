export const text = { title: "Home" } as const;
