import { constants } from 'node:fs';

/**
 * Opens a file for reading without a wait. Where a named pipe was put in the place of a file, the usual flags wait for
 * its writer: on the main thread they stop the program, and elsewhere they take one of Node's few file threads for good.
 */
export const READ_WITHOUT_WAIT = constants.O_RDONLY | constants.O_NONBLOCK;
