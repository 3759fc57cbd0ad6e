// The server's settings, once they are known; what stands in their place until then.

import type { ReactNode } from "react";
import type { Config, UserSystemInfo } from "../api/types";
import { useInfo } from "../app/info";
import { Failed, Loading } from "../ui/Nothing";

export function WithConfig({ children }: { children: (config: Config, info: UserSystemInfo) => ReactNode }) {
  const { data, error, refetch } = useInfo();
  if (data) return children(data.config, data);
  if (error) return <Failed what="The settings are" error={error} again={() => void refetch()} />;
  return <Loading what="the settings" />;
}
