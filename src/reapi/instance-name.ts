/** Instance names are stored with operations and logged, so their length is bounded. */
export const MAX_INSTANCE_NAME_LENGTH = 1024
