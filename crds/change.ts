/**
 * Identify changes that managedFields do not attribute to a client: the removal of a field, a second write within a second, and a deletion.
 * The recorder of the operator and the store that claims changes of Headwater must compute the same identities.
 */
export const unattributedChangeId = ({ uid, generation }: { readonly uid: string; readonly generation: number }): string =>
  `${uid}/${generation}`;
export const deletionId = ({ uid }: { readonly uid: string }): string => `${uid}/deleted`;
