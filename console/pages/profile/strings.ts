export const text = { title: "Profile" } as const;
