// The types of the server's API, as the generated file has them.
export type * from "../../../shared/types";
