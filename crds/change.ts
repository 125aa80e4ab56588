/**
 * Identify changes that managedFields do not attribute to a client: the removal of a field, a second write within a second, and a deletion.
 * Who records changes and who claims those of Headwater use the same identities.
 */
export const unattributedChange = ({ uid, generation }: { readonly uid: string; readonly generation: number }): string =>
  `${uid}/${generation}`;
export const deletionOf = ({ uid }: { readonly uid: string }): string => `${uid}/deleted`;
