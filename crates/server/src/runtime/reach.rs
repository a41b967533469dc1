//! Where others reach a service that listens at some address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The beginning of every address at which a service that listens at `listen` is called.
pub(super) fn url(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        ip if !ip.is_unspecified() => ip,
        ip => outward(ip).unwrap_or_else(|| match ip {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        }),
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

/// The address of this machine towards others, if it has a way to them. Nothing is sent.
fn outward(any: IpAddr) -> Option<IpAddr> {
    let far: SocketAddr = match any {
        IpAddr::V4(_) => (Ipv4Addr::new(192, 0, 2, 1), 9).into(),
        IpAddr::V6(_) => (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9).into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(far).ok()?;
    socket.local_addr().ok().map(|own| own.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_says_nothing_is_not_told() {
        assert_eq!(url("127.0.0.1:8000".parse().unwrap()), "http://127.0.0.1:8000");
        assert_eq!(url("[::1]:8000".parse().unwrap()), "http://[::1]:8000");
        for any in ["0.0.0.0:8000", "[::]:8000"] {
            let told = url(any.parse().unwrap());
            let address: SocketAddr = told.strip_prefix("http://").unwrap().parse().unwrap();
            assert!(!address.ip().is_unspecified() && address.port() == 8000, "{told}");
        }
    }
}
