/** Instance names are kept with operations and shown in logs, so they have a bound. */
export const MAX_INSTANCE_NAME_LENGTH = 1024
