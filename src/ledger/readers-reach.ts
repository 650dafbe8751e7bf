/** Whose rows a reader may see. What is absent does not limit it, and an empty list finds nothing. */
export interface ReadersReach {
  /** Names of gateway profiles. */
  profiles?: readonly string[];
  /** End users, by code or name. */
  endUsers?: readonly string[];
}
